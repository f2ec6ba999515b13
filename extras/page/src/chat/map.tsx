// The map of a thread: the journal as a tape, and the rows that are made from it.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { inWords, lastEvent, lastKnown, lastNumbers, moreCards, Sides } from '../map.tsx';
import type { Mapped } from '../map.tsx';
import type { ShownMember, ShownMessage, ShownThread } from '../queries.ts';
import { drawnStage } from '../slow.ts';
import { nameOf, state } from '../state.ts';
import type { HistoryEvent, Trace } from '../state.ts';
import { watched } from '../watch.ts';
import * as act from './actions.ts';
import { frontPane, panes } from './panes.ts';
import type { Pane } from './panes.ts';
import { second, switched, versionOf } from './second.ts';

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
    const events = admin ? await act.history(thread, admin.id, moreCards).catch(() => []) : [];
    journal.value = { thread, events };
  }
  reading = false;
}

const mapped = ({ id, name, version }: ShownThread): Mapped => ({
  key: id, aid: `thread-${id}`, name, version, journal: journal.value.thread === id ? journal.value.events : [], again: second.value?.version,
});

/** The map in one line, for a phone: the last cards, and where the rows are. It leads to the map. */
export function SmallMap() {
  const thread = frontPane()?.thread.value;
  if (!thread) return null;
  const last = lastEvent(mapped(thread));
  return (
    <button class="small" onClick={() => document.querySelector('.map')?.scrollIntoView()}>
      <span>journal</span>
      {lastNumbers(last, second.value ? 2 : 4).map((number) => (
        <b key={number} class={number > thread.version ? 'ahead' : ''}>
          {number}
        </b>
      ))}
      <span>{second.value ? `→ second set at ${second.value.version}, not read yet` : `→ rows at ${thread.version}: ${inWords(last - thread.version)}`}</span>
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

/** The rows, with those that the last event has changed; during a rebuild that is looked at, those of both sets. */
function Rows({ pane, thread, trace }: { pane: Pane; thread: ShownThread; trace: Trace | undefined }) {
  const seen = useRef<{ now: ShownThread; before: ShownThread | null }>({ now: thread, before: null });
  if (seen.current.now.version !== thread.version) seen.current = { now: thread, before: seen.current.now };
  const before = trace?.aggregate === thread.id && drawnStage(trace) !== 'visible' && trace.stage === 'visible' ? null : seen.current.before; // in slow motion
  const old = before && new globalThis.Map([
    [before.id, before.name],
    ...before.members.edges.map(({ node }): [string, string] => [node.id, node.role]),
    ...before.messages.edges.map(({ node }): [string, string] => [node.id, node.updatedAt]),
  ]);
  const made = second.value;
  const fresh = switched.value === versionOf(thread);
  const messages = thread.messages.edges.map(({ node }) => node);
  return (
    <div class="sets">
      <Tables
        key={fresh} of={{ name: made ? 'The live set: it is read' : fresh ? 'The second set: it is the live one now' : '', thread, members: pane.members, messages }}
        changed={(id, now) => fresh || (old !== null && old.get(id) !== now)} mark={` ${thread.version}`}
      />
      {made && (
        <Tables
          of={{
            name: `A second set, ${made.version ? `at event ${made.version}` : 'still empty'}: not read yet`, thread: { ...thread, version: made.version },
            members: pane.members.filter((each) => made.members.includes(each.userAccountId)), messages: messages.filter((each) => made.messages.includes(each.id)),
          }}
          changed={() => true} mark=""
        />
      )}
    </div>
  );
}

interface TablesProps {
  of: { name: string; thread: ShownThread; members: ShownMember[]; messages: ShownMessage[] };
  changed: (id: string, now: string) => boolean;
  mark: string; // in the key of a row that has changed: a new row, so that it lights up again
}

/** A set of tables. */
function Tables({ of: { name, thread, members, messages }, changed, mark }: TablesProps) {
  const row = (id: string, now: string): { key: string; class: string } => (changed(id, now) ? { key: id + mark, class: 'lit' } : { key: id, class: '' });
  return (
    <div class="set" role="group" aria-label={name || 'Tables'}>
      {name && <p>{name}</p>}
      <table>
        <caption>threads</caption>
        <tbody>
          {thread.version > 0 ? (
            <tr {...row(thread.id, thread.name)}>
              <td dir="auto">{thread.name}</td>
              <td key={thread.version} class={changed(thread.id, '') ? 'lit' : ''}>
                {thread.version}
              </td>
            </tr>
          ) : (
            <None />
          )}
        </tbody>
      </table>
      <table>
        <caption>members</caption>
        <tbody>
          {members.slice(0, shownRows).map((member) => (
            <tr {...row(member.id, member.role)}>
              <td dir="auto">{nameOf(member.account?.name, member.userAccountId)}</td>
              <td>{member.role}</td>
            </tr>
          ))}
          <More count={members.length - shownRows} />
          {members.length === 0 && <None />}
        </tbody>
      </table>
      <table class="texts">
        <caption>the last messages</caption>
        <tbody>
          {messages.slice(-shownRows).map((message) => (
            <tr {...row(message.id, message.updatedAt)}>
              <td dir="auto">{nameOf(message.sender?.name, message.userAccountId)}</td>
              <td dir="auto">{message.text}</td>
            </tr>
          ))}
          {messages.length === 0 && <None />}
        </tbody>
      </table>
    </div>
  );
}

const None = () => (
  <tr>
    <td class="quiet">no rows</td>
  </tr>
);

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
