// The map of a thread: the journal as a tape, and the rows that are made from it.
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { holeOf, inWords, lastEvent, lastNumbers, Sides, useArrival, useDrawn } from '../map.tsx';
import type { Mapped } from '../map.tsx';
import type { ShownMember, ShownMessage, ShownThread } from '../queries.ts';
import { nameOf } from '../state.ts';
import type { HistoryEvent, Trace } from '../state.ts';
import { useTape } from './journal.ts'; // extra:history
import { frontPane, panes } from './panes.ts';
import { second, switched, versionOf } from './second.ts';

const shownRows = 3;

/** The last events of a thread. */
export interface Tape {
  thread: string;
  events: HistoryEvent[];
}

const journal = signal<Tape>({ thread: '', events: [] });

const mapped = ({ id, name, version }: ShownThread): Mapped => ({
  key: id, aid: `thread-${id}`, name, version, journal: journal.value.thread === id ? journal.value.events : [], again: second.value?.version,
});

/** The map in one line, for a phone: the last cards, and where the rows are. It leads to the map. */
export function SmallMap() {
  const thread = frontPane()?.thread.value;
  return thread ? <Line key={thread.id} thread={thread} /> : null;
}

function Line({ thread }: { thread: ShownThread }) {
  const of = mapped(thread);
  const arrived = useArrival(of);
  const [last, hole] = [lastEvent(of), holeOf(of)];
  const text = second.value ? `second set at ${second.value.version}, not read yet` : arrived?.text ?? `rows at ${thread.version}: ${inWords(last - thread.version)}`;
  return (
    <button class="small" title="Show the map" onClick={() => document.querySelector('.map')?.scrollIntoView()}>
      {!arrived && <span>journal</span>}
      {lastNumbers(last, second.value || arrived ? 2 : 4).map((number) => (
        <b key={number} class={number === hole ? 'lost' : number > thread.version ? 'ahead' : arrived?.card === `${number}` ? arrived.kind : ''}>
          {number}
        </b>
      ))}
      <span>→ {text}</span>
    </button>
  );
}

/** What is known of the thread that a command is about, or else of the open one: by the person who sees most of it. */
function threadOf(trace: Trace | undefined): ShownThread | null | undefined {
  const seen = panes.value.map((pane) => pane.thread.value).filter((thread) => thread !== null);
  const id = seen.find((thread) => thread.id === trace?.aggregate)?.id ?? frontPane()?.thread.value?.id;
  return seen.filter((thread) => thread.id === id).sort((a, b) => b.version - a.version)[0];
}

export function Map({ trace }: { trace: Trace | undefined }) {
  const thread = threadOf(trace);
  return thread ? <ThreadMap key={thread.id} thread={thread} trace={trace} /> : null;
}

function ThreadMap({ thread, trace }: { thread: ShownThread; trace: Trace | undefined }) {
  useTape(mapped(thread), journal); // extra:history
  const { now, before } = useDrawn(thread.id, thread, trace);
  return (
    <Sides of={mapped(now)}>
      <Rows thread={now} before={before} />
      <Readers thread={now} last={lastEvent(mapped(now))} />
    </Sides>
  );
}

/** Who reads the thread here, and at which event. */
const Readers = ({ thread, last }: { thread: ShownThread; last: number }) => (
  <ul class="readers" aria-label="Readers">
    {panes.value.map(({ viewer, thread: { value: seen } }) => seen?.id === thread.id && (
      <li key={viewer.id} class={seen.version < last ? 'behind' : ''}>
        {viewer.name} sees <b>{Math.min(seen.version, thread.version)}</b>
      </li>
    ))}
  </ul>
);

/** The rows, with those that the last event has changed; during a rebuild that is looked at, those of both sets. */
function Rows({ thread, before }: { thread: ShownThread; before: ShownThread | null }) {
  const old = before && new globalThis.Map([
    [before.id, before.name],
    ...before.members.edges.map(({ node }): [string, string] => [node.id, node.role]),
    ...before.messages.edges.map(({ node }): [string, string] => [node.id, node.updatedAt]),
  ]);
  const made = second.value;
  const known = useRef(switched.peek()).current; // before this was opened
  const fresh = switched.value !== known && switched.value === versionOf(thread);
  const [members, messages] = [thread.members.edges.map(({ node }) => node), thread.messages.edges.map(({ node }) => node)];
  const of = mapped(thread);
  const hole = made ? 0 : holeOf(of);
  return (
    <div class="sets">
      <Tables
        key={fresh} of={{ name: made ? 'The live set: it is read' : fresh ? 'The second set: it is the live one now' : '', thread, members, messages }}
        changed={(id, now) => fresh || (old !== null && old.get(id) !== now)} mark={` ${thread.version}`} hole={hole} last={lastEvent(of)}
      />
      {made && (
        <Tables
          of={{
            name: `A second set, ${made.version ? `at event ${made.version}` : 'still empty'}: not read yet`, thread: { ...thread, version: made.version },
            members: members.filter((each) => made.members.includes(each.userAccountId)), messages: messages.filter((each) => made.messages.includes(each.id)),
          }}
          changed={() => true} mark="" count={made.count}
        />
      )}
    </div>
  );
}

interface TablesProps {
  of: { name: string; thread: ShownThread; members: ShownMember[]; messages: ShownMessage[] };
  changed: (id: string, now: string) => boolean;
  mark: string; // in the key of a row that has changed: a new row, so that it lights up again
  hole?: number; // the event that the rows lack
  last?: number; // the last event
  count?: number; // of all messages
}

/** A set of tables. */
function Tables({ of: { name, thread, members, messages }, changed, mark, hole = 0, last = 0, count = 0 }: TablesProps) {
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
        <caption>the last messages{count > 0 && `, of ${count.toLocaleString()}`}</caption>
        <tbody>
          {messages.slice(-shownRows).map((message) => (
            <tr {...row(message.id, message.updatedAt)}>
              <td dir="auto">{nameOf(message.sender?.name, message.userAccountId)}</td>
              <td dir="auto">{message.text}</td>
            </tr>
          ))}
          {messages.length === 0 && <None />}
          {hole > 0 && <Hole text={`event ${hole} is missing`} />}
          {hole > 0 && last > hole && <Hole text={`event ${last} waits for ${hole}`} />}
        </tbody>
      </table>
    </div>
  );
}

/** A row that is not there. */
const Hole = ({ text }: { text: string }) => (
  <tr class="hole">
    <td colSpan={2}>{text}</td>
  </tr>
);

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
