// The map of an aggregate, below the way of a command: on the write side its journal as a tape, on the read side the
// rows that are made from it. Between them is the distance, in numbers.
import { signal } from '@preact/signals';
import { Fragment } from 'preact';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { open } from './feed.tsx';
import { drawnStage, replay } from './slow.ts';
import { nameOf, state } from './state.ts';
import type { HistoryEvent, Trace } from './state.ts';
import { isLost } from './traces.ts';
import { lastTold, watched } from './watch.ts';
import { words } from './words.ts';
import type { JournalEvent } from './words.ts';

/** What the map knows of an aggregate. */
export interface Mapped {
  key: string; // as tokens name it
  aid: string; // as the journal does
  name: string;
  version: number; // of its rows
  journal: HistoryEvent[]; // its last events, where somebody may read them
  again?: number | undefined; // the event that a rebuild has come to
}

export const cards = 6;
export const moreCards = 10; // in one line each, during a rebuild

const numbers = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

export const inWords = (behind: number): string => (behind === 0 ? 'no distance' : `${numbers[behind] ?? behind} behind`);

const ownOf = ({ key }: Mapped): Trace[] => state.traces.value.filter((each) => each.aggregate === key && each.version !== undefined);

/** The last event that this page was told of, or has written. */
export const lastKnown = (of: Mapped): number => Math.max(of.version, lastTold(of.aid)?.seqNr ?? 0, ...ownOf(of).map((each) => each.version ?? 0));

/** The last event of all that this page knows. */
export const lastEvent = (of: Mapped): number => Math.max(lastKnown(of), of.journal.at(-1)?.seqNr ?? 0);

/** The numbers of the last events, the first of them first. */
export const lastNumbers = (last: number, count: number): number[] => Array.from({ length: Math.min(count, last) }, (_, i) => last - Math.min(count, last) + 1 + i);

/** The event that the rows lack because its record never came; 0: there is none. */
export const holeOf = (of: Mapped): number => (isLost(ownOf(of).find((each) => each.version === of.version + 1)) ? of.version + 1 : 0);

/** The rows as they are drawn, and those before them. While a command's way is drawn again, they are as old as its dot. */
export function useDrawn<R extends { version: number }>(key: string, rows: R, trace: Trace | undefined): { now: R; before: R | null } {
  const seen = useRef<{ now: R; before: R | null }>({ now: rows, before: null });
  const again = trace?.aggregate === key && replay.value?.key === trace.key ? trace : undefined;
  const version = again?.version ?? Infinity;
  if (rows.version === seen.current.now.version) seen.current.now = rows;
  else if (seen.current.now.version < version) seen.current = { now: rows, before: seen.current.now };
  const { now, before } = seen.current;
  return again && drawnStage(again) !== 'visible' && before && before.version < version ? { now: before, before: null } : { now, before };
}

/** Both sides. The children are the rows. */
export function Sides({ of, children }: { of: Mapped; children: ComponentChildren }) {
  const own = ownOf(of);
  const told = watched.events.value.filter((each) => each.aid === of.aid);
  const last = lastEvent(of);
  const again = own.find((each) => each.key === replay.value?.key);
  const written = again?.version && drawnStage(again) === 'sent' ? again.version - 1 : last;
  const behind = written - of.version;
  const shown = of.again === undefined ? cards : moreCards;
  const lost = holeOf(of);
  return (
    <div class="map" role="group" aria-label={`Map of ${of.name}`}>
      <p class={`distance ${behind > 0 ? 'behind' : ''}`} role="status">
        {again ? 'Drawn again' : `This ${of.aid.split('-')[0]}`}: journal <b>{written}</b>, projection <b>{of.version}</b>: {inWords(behind)}
      </p>
      <Arrival of={of} />
      <section aria-label="Write side">
        <h3>
          Journal{last > shown && <small>, the last {shown}</small>}
        </h3>
        <ol class="tape">
          {lastNumbers(last, shown).map((number) => {
            const event = told.find((each) => each.seqNr === number) ?? of.journal.find((each) => each.seqNr === number);
            return <Card key={number} aid={of.aid} number={number} rows={of.version} lost={number === lost} again={number === of.again} event={event} trace={own.find((each) => each.version === number)} />;
          })}
        </ol>
      </section>
      <section aria-label="Read side" key={of.key}>
        <h3>
          Rows<small>, at event {of.version}</small>
        </h3>
        {children}
      </section>
    </div>
  );
}

interface CardProps {
  aid: string;
  number: number;
  rows: number; // the version of the rows
  lost: boolean; // its record never came
  again: boolean; // it has just been read again
  event: HistoryEvent | JournalEvent | undefined;
  trace: Trace | undefined;
}

/** An event on the tape. What it says is known from the journal, or else from the command that led to it. */
function Card({ aid, number, rows, lost, again, event, trace }: CardProps) {
  const unwritten = trace !== undefined && drawnStage(trace) === 'sent'; // in slow motion
  const text = event ? words(event.type) : trace ? trace.path.split('/')[2]?.replaceAll('_', ' ') : 'by somebody else';
  const who = event ? nameOf(undefined, event.executorId) : trace?.executor;
  return (
    <li class={`${number > rows ? 'ahead' : ''} ${unwritten ? 'unwritten' : ''} ${lost ? 'lost' : ''} ${again ? 'again' : ''}`}>
      {event ? (
        <button class="event" onClick={() => open('aid' in event ? event : { ...event, tenant: '', aid, position: 0, raw: event })}>
          <b>{number}</b> {text} <small>{who}</small>
        </button>
      ) : (
        <>
          <b>{number}</b> {text} <small>{who}</small>
        </>
      )}
      {lost && <em>the stream has lost it</em>}
      {trace?.replayed && <em>sent again: already at {number}</em>}
    </li>
  );
}

/** A query with a token, which waits until the rows have its event. */
export interface Asked {
  key: string; // of the aggregate
  who: string;
  version: number; // that the token names; once it is answered, that of the answer
  answered: boolean;
}

export const asked = signal<Asked | null>(null);

const recent = 6000; // milliseconds

interface Arrived {
  kind: string; // style.css draws it
  card: string; // what comes from the journal
  text: string;
}

/** What comes to the rows now, or came in the last seconds; null: nothing. The figures of the projection are of all aggregates. */
export function useArrival(of: Mapped): Arrived | null {
  const samples = state.samples.value;
  const now = samples.at(-1);
  const before = samples.find((each, i) => (now && now.at - each.at < recent) || i === samples.length - 2); // samples may be rare
  const it = useRef({ duplicates: 0, at: of.version, mine: true, behind: 0, hole: 0, filled: 0, filledAt: 0 }).current; // what was seen last, with the version of the rows, and the time
  const [last, hole] = [lastEvent(of), holeOf(of)];
  if (now && now.duplicates !== it.duplicates) Object.assign(it, { duplicates: now.duplicates, at: of.version, mine: (watched.events.value.at(-1)?.aid ?? of.aid) === of.aid });
  if (it.hole && of.version >= it.hole) Object.assign(it, { filled: it.hole, filledAt: performance.now() });
  it.hole = hole;
  const [again, filled] = now && before ? [now.duplicates - before.duplicates, now.filled - before.filled] : [0, 0];
  const query = asked.value?.key === of.key ? asked.value : null;
  if (query && !query.answered) return { kind: 'asks', card: '', text: `${query.who}'s query waits for ${query.version}, rows are at ${of.version}` };
  if (hole) {
    const held = (now?.records ?? 0) > 0; // what came after it
    return last > hole && held
      ? { kind: 'gap', card: `${last}`, text: `${last} came, ${hole} is missing: it is in the journal` }
      : { kind: 'lost', card: `${hole}`, text: `${hole} never came: the rows have a hole, unknown to the projection` };
  }
  if (it.filled && performance.now() - it.filledAt < recent) return { kind: 'fetched', card: `${it.filled}`, text: `${it.filled} never came: it was read from the journal` };
  if (again > 0 && it.mine) return { kind: 'bounced', card: `${it.at}`, text: `${again === 1 ? 'Came again' : `${again} came again`}, bounced off: already at ${it.at}` };
  const parked = state.status.value.some((each) => (each.health?.parked_aggregates ?? 0) > 0);
  if (last === of.version) it.behind = 0;
  else it.behind ||= performance.now();
  if (parked && it.behind && performance.now() - it.behind > 2000) return { kind: 'lost', card: `${of.version + 1}`, text: `${of.version + 1} can't be read: it is parked, and waits` };
  if (filled > 0) return { kind: 'fetched', card: '', text: `${filled === 1 ? 'An event was' : `${filled} events were`} read from the journal: a record was lost, or late` };
  return query && { kind: 'answered', card: '', text: `${query.who}'s answer has event ${query.version}` };
}

/** Between the sides: the card that has come to the rows, with the trail of its way, and in words what becomes of it. */
function Arrival({ of }: { of: Mapped }) {
  const arrived = useArrival(of);
  return (
    <div class={`arrival ${arrived?.kind ?? ''}`}>
      <div class="way" aria-hidden="true">
        {arrived?.card && (
          <Fragment key={arrived.kind + arrived.card}>
            <span class="trail" />
            <b>{arrived.card}</b>
          </Fragment>
        )}
      </div>
      <p role="status">{arrived?.text}</p>
    </div>
  );
}
