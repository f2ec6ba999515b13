// The map of a thread: the journal as a tape, and the rows that are made from it.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { cards, inWords, lastEvent, lastKnown, lastNumbers, Sides } from '../map.tsx';
import type { Mapped } from '../map.tsx';
import type { ShownThread } from '../queries.ts';
import { drawnStage } from '../slow.ts';
import { nameOf, state } from '../state.ts';
import type { HistoryEvent, Trace } from '../state.ts';
import { watched } from '../watch.ts';
import * as act from './actions.ts';
import { frontPane, panes } from './panes.ts';
import type { Pane } from './panes.ts';

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
    const admin = panes.peek().find((pane) => pane.thread.peek()?.id === thread && pane.admin);
    const events = admin ? await act.history(thread, admin.id, cards).catch(() => []) : [];
    journal.value = { thread, events };
  }
  reading = false;
}

const mapped = ({ id, name, version }: ShownThread): Mapped => ({
  key: id, aid: `thread-${id}`, name, version, journal: journal.value.thread === id ? journal.value.events : [],
});

/** The map in one line, for a phone: the last cards, and where the rows are. It leads to the map. */
export function SmallMap() {
  const thread = frontPane()?.thread.value;
  if (!thread) return null;
  const last = lastEvent(mapped(thread));
  return (
    <button class="small" onClick={() => document.querySelector('.map')?.scrollIntoView()}>
      <span>journal</span>
      {lastNumbers(last, 4).map((number) => (
        <b key={number} class={number > thread.version ? 'ahead' : ''}>
          {number}
        </b>
      ))}
      <span>→ rows at {thread.version}: {inWords(last - thread.version)}</span>
    </button>
  );
}

export function Map({ trace }: { trace: Trace | undefined }) {
  const pane = panes.value.find((each) => each.thread.value && each.thread.value.id === trace?.aggregate) ?? frontPane();
  const thread = pane?.thread.value;
  const written = thread ? lastKnown(mapped(thread)) : 0;
  const records = watched.live.value ? 0 : state.samples.value.at(-1)?.records; // others write, too
  useEffect(() => {
    if (thread) void readJournal(thread.id);
  }, [thread?.id, written, records]);
  if (!pane || !thread) return null;
  return (
    <Sides of={mapped(thread)}>
      <Rows pane={pane} thread={thread} trace={trace} />
    </Sides>
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
    <>
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
        <caption>the last messages</caption>
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
    </>
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
