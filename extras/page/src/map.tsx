// The map: on the left the write side, with the journal of a thread as a tape; on the right the read side, with the rows
// that are made from it. Between them is the distance, in numbers.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import * as act from './actions.ts';
import { lastTold, open } from './feed.tsx';
import { drawnStage } from './slow.ts';
import { frontPane, nameOf, state } from './state.ts';
import type { HistoryEvent, Pane, ShownThread, Trace } from './state.ts';
import { watched } from './watch.ts';
import { words } from './words.ts';
import type { JournalEvent } from './words.ts';

const cards = 6;
const shownRows = 3;

const journal = signal<{ thread: string; events: HistoryEvent[] }>({ thread: '', events: [] });

let reading = false;
let again = false;

/** Reads the last events from the journal itself, where an Admin is here to ask for them. */
async function readJournal(thread: string): Promise<void> {
  again = true;
  if (reading) return;
  reading = true;
  while (again) {
    again = false;
    const admin = state.panes.peek().find((pane) => pane.thread.peek()?.id === thread && pane.admin);
    const events = admin ? await act.history(thread, admin.id, cards).catch(() => []) : [];
    journal.value = { thread, events };
  }
  reading = false;
}

const numbers = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const inWords = (behind: number): string => (behind === 0 ? 'no distance' : `${numbers[behind] ?? behind} behind`);

/** The last event of a thread that this page knows of. */
function lastEvent(thread: ShownThread): number {
  const own = state.traces.value.filter((each) => each.aggregate === thread.id).map((each) => each.version ?? 0);
  const read = journal.value.thread === thread.id ? (journal.value.events.at(-1)?.seqNr ?? 0) : 0;
  return Math.max(thread.version, read, lastTold(thread.id)?.seqNr ?? 0, ...own);
}

/** The map in one line, for a phone: the last cards, and where the rows are. It leads to the map. */
export function SmallMap() {
  const thread = frontPane()?.thread.value;
  if (!thread) return null;
  const last = lastEvent(thread);
  const cards = Array.from({ length: Math.min(4, last) }, (_, i) => last - Math.min(4, last) + 1 + i);
  return (
    <button class="small" onClick={() => document.querySelector('.map')?.scrollIntoView()}>
      <span>journal</span>
      {cards.map((number) => (
        <b key={number} class={number > thread.version ? 'ahead' : ''}>
          {number}
        </b>
      ))}
      <span>→ rows at {thread.version}: {inWords(last - thread.version)}</span>
    </button>
  );
}

export function Map({ trace }: { trace: Trace | undefined }) {
  const pane = state.panes.value.find((each) => each.thread.value && each.thread.value.id === trace?.aggregate) ?? frontPane();
  const thread = pane?.thread.value;
  const own = state.traces.value.filter((each) => each.aggregate === thread?.id && each.version !== undefined);
  const told = watched.events.value.filter((each) => each.aid === `thread-${thread?.id}`);
  const written = Math.max(thread?.version ?? 0, told.at(-1)?.seqNr ?? 0, ...own.map((each) => each.version ?? 0));
  const records = watched.live.value ? 0 : state.samples.value.at(-1)?.records; // others write, too
  useEffect(() => {
    if (thread) void readJournal(thread.id);
  }, [thread?.id, written, records]);
  if (!pane || !thread) return null;
  const known = journal.value.thread === thread.id ? journal.value.events : [];
  const last = lastEvent(thread);
  const behind = last - thread.version;
  const lost = isLost(own.find((each) => each.version === thread.version + 1)) ? thread.version + 1 : 0;
  return (
    <div class="map" role="group" aria-label={`Map of ${thread.name}`}>
      <p class={`distance ${behind > 0 ? 'behind' : ''}`} role="status">
        journal <b>{last}</b>, projection <b>{thread.version}</b>: {inWords(behind)}
      </p>
      <div class="delivery" role="status">
        <Deliveries version={thread.version} />
      </div>
      <section aria-label="Write side">
        <h3>Write side</h3>
        <ol class="tape">
          {Array.from({ length: Math.min(cards, last) }, (_, i) => last - Math.min(cards, last) + 1 + i).map((number) => (
            <Card key={number} number={number} rows={thread.version} lost={number === lost} event={told.find((each) => each.seqNr === number) ?? known.find((each) => each.seqNr === number)} trace={own.find((each) => each.version === number)} />
          ))}
        </ol>
      </section>
      <Rows key={thread.id} pane={pane} thread={thread} trace={trace} />
    </div>
  );
}

interface CardProps {
  number: number;
  rows: number; // the version of the rows
  lost: boolean; // its record never came
  event: HistoryEvent | JournalEvent | undefined;
  trace: Trace | undefined;
}

/** An event on the tape. What it says is known from the journal, or else from the command that led to it. */
function Card({ number, rows, lost, event, trace }: CardProps) {
  const unwritten = trace !== undefined && drawnStage(trace) === 'sent'; // in slow motion
  const text = event ? words(event.type) : trace ? trace.path.split('/')[2]?.replaceAll('_', ' ') : 'by somebody else';
  const who = event ? nameOf(undefined, event.executorId) : trace?.executor;
  return (
    <li class={`${number > rows ? 'ahead' : ''} ${unwritten ? 'unwritten' : ''} ${lost ? 'lost' : ''}`}>
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
function isLost(next: Trace | undefined): boolean {
  const sample = state.samples.value.at(-1);
  const health = state.status.value.find((each) => each.name === 'read-model-updater')?.health;
  return next?.stage === 'written' && sample?.records === 0 && sample.at - (next.answeredAt ?? 0) > 1000 && health?.active === true && health.parked_aggregates === 0;
}

const recent = 5000; // milliseconds

/** What the projection did in the last seconds with what came twice, or not at all. The figures are of all threads. */
function Deliveries({ version }: { version: number }) {
  const samples = state.samples.value;
  const last = samples.at(-1);
  const before = samples.find((each) => last && last.at - each.at < recent);
  if (!last || !before) return null;
  const [again, filled] = [last.duplicates - before.duplicates, last.filled - before.filled];
  return (
    <>
      {again > 0 && (
        <p>
          {again === 1 ? 'One event came again and bounced off' : `${again} events came again and bounced off`}: already at {version}
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

/** The rows, with those that the last event has changed. */
function Rows({ pane, thread, trace }: { pane: Pane; thread: ShownThread; trace: Trace | undefined }) {
  const seen = useRef<{ now: ShownThread; before: ShownThread | null }>({ now: thread, before: null });
  if (seen.current.now.version !== thread.version) seen.current = { now: thread, before: seen.current.now };
  const before = trace?.aggregate === thread.id && drawnStage(trace) !== 'visible' && trace.stage === 'visible' ? null : seen.current.before; // in slow motion
  const members = before?.members.edges.map(({ node }) => node) ?? [];
  const messages = before?.messages.edges.map(({ node }) => node) ?? [];
  const lit = (changed: boolean): string => (before && changed ? 'lit' : '');
  const mark = (changed: boolean): string => (before && changed ? ` ${thread.version}` : ''); // a new row, so that it lights up again
  return (
    <section aria-label="Read side">
      <h3>
        Read side, <small>at event {thread.version}</small>
      </h3>
      <table>
        <caption>threads</caption>
        <tbody>
          <tr key={`thread${mark(before?.name !== thread.name)}`} class={lit(before?.name !== thread.name)}>
            <td dir="auto">{thread.name}</td>
            <td key={thread.version} class={lit(true)}>
              {thread.version}
            </td>
          </tr>
        </tbody>
      </table>
      <table>
        <caption>members</caption>
        <tbody>
          {pane.members.slice(0, shownRows).map((member) => {
            const changed = members.find((each) => each.id === member.id)?.role !== member.role;
            return (
              <tr key={member.id + mark(changed)} class={lit(changed)}>
                <td dir="auto">{nameOf(member.account?.name, member.userAccountId)}</td>
                <td>{member.role}</td>
              </tr>
            );
          })}
          <More count={pane.members.length - shownRows} />
        </tbody>
      </table>
      <table class="texts">
        <caption>messages</caption>
        <tbody>
          {thread.messages.edges.slice(-shownRows).map(({ node: message }) => {
            const changed = messages.find((each) => each.id === message.id)?.updatedAt !== message.updatedAt;
            return (
              <tr key={message.id + mark(changed)} class={lit(changed)}>
                <td dir="auto">{nameOf(message.sender?.name, message.userAccountId)}</td>
                <td dir="auto">{message.text}</td>
              </tr>
            );
          })}
          {thread.messages.edges.length === 0 && <tr><td class="quiet">no rows</td></tr>}
        </tbody>
      </table>
    </section>
  );
}

function More({ count }: { count: number }) {
  if (count <= 0) return null;
  return (
    <tr>
      <td class="quiet" colSpan={2}>
        and {count} more
      </td>
    </tr>
  );
}
