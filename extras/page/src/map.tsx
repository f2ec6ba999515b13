// The map of an aggregate: on the left the write side, with its journal as a tape; on the right the read side, with the
// rows that are made from it. Between them is the distance, in numbers.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { open } from './feed.tsx';
import { drawnStage } from './slow.ts';
import { nameOf, state } from './state.ts';
import type { HistoryEvent, Trace } from './state.ts';
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

/** Both sides. The children are the rows. */
export function Sides({ of, children }: { of: Mapped; children: ComponentChildren }) {
  const own = ownOf(of);
  const told = watched.events.value.filter((each) => each.aid === of.aid);
  const last = lastEvent(of);
  const behind = last - of.version;
  const shown = of.again === undefined ? cards : moreCards;
  const lost = isLost(own.find((each) => each.version === of.version + 1)) ? of.version + 1 : 0;
  return (
    <div class="map" role="group" aria-label={`Map of ${of.name}`}>
      <p class={`distance ${behind > 0 ? 'behind' : ''}`} role="status">
        This {of.aid.split('-')[0]}: journal <b>{last}</b>, projection <b>{of.version}</b>: {inWords(behind)}
      </p>
      <div class="delivery" role="status">
        <Deliveries version={of.version} />
      </div>
      <section aria-label="Write side">
        <h3>
          Write side<small>, the journal{last > shown && ` from event ${last - shown + 1}`}</small>
        </h3>
        <ol class="tape">
          {lastNumbers(last, shown).map((number) => {
            const event = told.find((each) => each.seqNr === number) ?? of.journal.find((each) => each.seqNr === number);
            return <Card key={number} number={number} rows={of.version} lost={number === lost} again={number === of.again} event={event} trace={own.find((each) => each.version === number)} />;
          })}
        </ol>
      </section>
      <section aria-label="Read side" key={of.key}>
        <h3>
          Read side<small>, at event {of.version}</small>
        </h3>
        {children}
      </section>
    </div>
  );
}

interface CardProps {
  number: number;
  rows: number; // the version of the rows
  lost: boolean; // its record never came
  again: boolean; // it has just been read again
  event: HistoryEvent | JournalEvent | undefined;
  trace: Trace | undefined;
}

/** An event on the tape. What it says is known from the journal, or else from the command that led to it. */
function Card({ number, rows, lost, again, event, trace }: CardProps) {
  const unwritten = trace !== undefined && drawnStage(trace) === 'sent'; // in slow motion
  const text = event ? words(event.type) : trace ? trace.path.split('/')[2]?.replaceAll('_', ' ') : 'by somebody else';
  const who = event ? nameOf(undefined, event.executorId) : trace?.executor;
  return (
    <li class={`${number > rows ? 'ahead' : ''} ${unwritten ? 'unwritten' : ''} ${lost ? 'lost' : ''} ${again ? 'again' : ''}`}>
      {event && 'aid' in event ? (
        <button class="event" onClick={() => open(event)}>
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

/** The stream is read to its end after the event was written, and nothing is parked: its record never came. */
export function isLost(next: Trace | undefined): boolean {
  const sample = state.samples.value.at(-1);
  const health = state.status.value.find((each) => each.name === 'read-model-updater')?.health;
  return next?.stage === 'written' && sample?.records === 0 && sample.at - (next.answeredAt ?? 0) > 1000 && health?.active === true && health.parked_aggregates === 0;
}

const recent = 5000; // milliseconds

/** What the projection did in the last seconds with what came twice, or not at all. The figures are of all aggregates. */
function Deliveries({ version }: { version: number }) {
  const samples = state.samples.value;
  const last = samples.at(-1);
  const before = samples.find((each) => last && last.at - each.at < recent);
  const bounced = useRef({ count: 0, version });
  if (last && last.duplicates !== bounced.current.count) bounced.current = { count: last.duplicates, version };
  if (!last || !before) return null;
  const [again, filled] = [last.duplicates - before.duplicates, last.filled - before.filled];
  return (
    <>
      {again > 0 && (
        <p>
          {again === 1 ? 'One event came again and bounced off' : `${again} events came again and bounced off`}: already at {bounced.current.version}
        </p>
      )}
      {filled > 0 && (
        <p>
          {filled === 1 ? 'One event was' : `${filled} events were`} read from the journal: a record was lost, or late
        </p>
      )}
    </>
  );
}
