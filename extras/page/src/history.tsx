// Time travel: the events of a thread, and the thread as it was after any of them.
import { signal } from '@preact/signals';
import { history } from './actions.ts';
import { query } from './api.ts';
import { time } from './common.tsx';
import { Causes, loadCauses } from './causes.tsx';
import { frontPane, nameOf } from './state.ts';
import type { HistoryEvent, Pane } from './state.ts';
import { words } from './words.ts';

interface Past {
  version: number;
  name: string;
  deleted: boolean;
  members: Array<{ userAccountId: string; role: string }>;
  messages: Array<{ id: string; userAccountId: string; text: string }>;
}

interface Seen {
  thread: string;
  events: HistoryEvent[];
  version: number;
  now: Past | null;
  before: Past | null;
  problem: string;
}

const seen = signal<Seen>({ thread: '', events: [], version: 0, now: null, before: null, problem: '' });

function see(changed: Partial<Seen>): void {
  seen.value = { ...seen.peek(), ...changed };
}

/** Loads the past of the thread that is open in the pane; also when it has got new events. */
export async function load(pane: Pane): Promise<void> {
  const thread = pane.selected.peek();
  try {
    const events = await history(thread, pane.id, 200);
    const latest = events.at(-1)?.seqNr ?? 0;
    const known = seen.peek();
    const atEnd = known.thread !== thread || known.version === (known.events.at(-1)?.seqNr ?? 0);
    see({ thread, events, problem: '' });
    await Promise.all([loadCauses(pane, events), atEnd && goTo(pane, latest)]);
  } catch (error) {
    see({ thread, events: [], now: null, problem: String(error instanceof Error ? error.message : error) });
  }
}

let asked = 0;

async function goTo(pane: Pane, version: number): Promise<void> {
  const asking = ++asked;
  see({ version });
  const [now, before] = await Promise.all([threadAt(pane, version), version > 1 ? threadAt(pane, version - 1) : null]);
  if (asking === asked) see({ now, before });
}

async function threadAt(pane: Pane, version: number): Promise<Past> {
  const data = await query<{ threadAt: Past }>(
    `query($thread: ID!, $viewer: ID!, $version: Int!) { threadAt(threadId: $thread, userAccountId: $viewer, version: $version) {
      version name deleted members { userAccountId role } messages(first: 100) { id userAccountId text } } }`,
    { thread: pane.selected.peek(), viewer: pane.id, version },
  );
  return data.threadAt;
}

export function History() {
  const pane = frontPane();
  const { thread, events, version, problem } = seen.value;
  if (!pane?.selected.value) return <p class="card quiet">Open a thread in the chat first: its past is shown here.</p>;
  const last = events.at(-1)?.seqNr ?? 1;
  return (
    <div class="past">
      <section class="card" aria-label="Events">
        <h2>
          <bdi>{pane.thread.value?.name ?? 'The thread'}</bdi>, event by event
        </h2>
        {problem && <p class="problem" role="alert">{problem}</p>}
        <label class="slider">
          <span>
            As it was after event <b>{version}</b> of {last}
          </span>
          <input
            type="range"
            min={events[0]?.seqNr ?? 1}
            max={last}
            value={version}
            onInput={(event) => void goTo(pane, Number(event.currentTarget.value))}
          />
        </label>
        <Timeline pane={pane} />
      </section>
      <section class="card" aria-label="The thread as it was">
        <Then />
      </section>
      <section class="card wide" aria-label="Causes">
        <h2>What led to what</h2>
        <Causes thread={thread} name={pane.thread.value?.name ?? ''} events={events} />
      </section>
    </div>
  );
}

function Timeline({ pane }: { pane: Pane }) {
  const { events, version } = seen.value;
  return (
    <ol class="timeline">
      {events.map((event) => (
        <li key={event.eventId} class={event.seqNr === version ? 'now' : event.seqNr > version ? 'later' : ''}>
          <button aria-current={event.seqNr === version ? 'step' : undefined} onClick={() => void goTo(pane, event.seqNr)}>
            <b>{event.seqNr}</b> {words(event.type)} <small>{nameOf(undefined, event.executorId)}, {time(event.occurredAt)}</small>
          </button>
          {event.seqNr === version && <pre tabIndex={0}>{JSON.stringify(event.data, null, 2)}</pre>}
        </li>
      ))}
    </ol>
  );
}

function Then() {
  const { now, before } = seen.value;
  if (!now) return <p class="quiet">…</p>;
  const old = new Map(before?.messages.map((message) => [message.id, message.text]) ?? []);
  const gone = before?.messages.filter((message) => !now.messages.some((each) => each.id === message.id)) ?? [];
  const roles = new Map(before?.members.map((member) => [member.userAccountId, member.role]) ?? []);
  const left = before?.members.filter((member) => !now.members.some((each) => each.userAccountId === member.userAccountId)) ?? [];
  const mark = (was: string | undefined, is: string): string => (was === undefined ? 'added' : was !== is ? 'changed' : '');
  return (
    <>
      <h2 dir="auto" class={before && before.name !== now.name ? 'changed' : ''}>
        {now.name}
        {now.deleted && ' (deleted)'}
      </h2>
      <ul class="chips">
        {now.members.map((member) => (
          <li key={member.userAccountId} class={mark(roles.get(member.userAccountId), member.role)}>
            {nameOf(undefined, member.userAccountId)} <small>{member.role.toLowerCase()}</small>
          </li>
        ))}
        {left.map((member) => (
          <li key={member.userAccountId} class="removed">
            {nameOf(undefined, member.userAccountId)}
          </li>
        ))}
      </ul>
      <ul class="messages then">
        {now.messages.map((message) => (
          <li key={message.id} class={`message ${mark(old.get(message.id), message.text)}`}>
            <strong class="sender">{nameOf(undefined, message.userAccountId)}</strong>
            <p dir="auto">{message.text}</p>
          </li>
        ))}
        {gone.map((message) => (
          <li key={message.id} class="message removed">
            <p dir="auto">{message.text}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
