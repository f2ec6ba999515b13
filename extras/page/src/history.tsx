// Time travel: the events of a thread, and the thread as it was after any of them.
import { history } from './actions.ts';
import { query } from './api.ts';
import { nameOf, time } from './chat.tsx';
import { Causes, loadCauses, words } from './causes.tsx';
import { Fragment, h } from './view.ts';
import type { Child } from './view.ts';
import { change, state } from './state.ts';
import type { HistoryEvent, Pane } from './state.ts';

interface Past {
  version: number;
  name: string;
  deleted: boolean;
  members: Array<{ userAccountId: string; role: string }>;
  messages: Array<{ id: string; userAccountId: string; text: string }>;
}

const seen = {
  thread: '',
  events: [] as HistoryEvent[],
  version: 0,
  now: null as Past | null,
  before: null as Past | null,
  problem: '',
};

/** Loads the past of the thread that is open in the pane; also when it has got new events. */
export async function load(pane: Pane): Promise<void> {
  const thread = pane.selected;
  try {
    const events = await history(thread, pane.viewer.id, 200);
    const latest = events.at(-1)?.seqNr ?? 0;
    const atEnd = seen.thread !== thread || seen.version === (seen.events.at(-1)?.seqNr ?? 0);
    change(() => Object.assign(seen, { thread, events, problem: '' }));
    await Promise.all([loadCauses(pane, events), atEnd && goTo(pane, latest)]);
  } catch (error) {
    change(() => Object.assign(seen, { thread, events: [], now: null, problem: String(error instanceof Error ? error.message : error) }));
  }
}

let asked = 0;

async function goTo(pane: Pane, version: number): Promise<void> {
  const asking = ++asked;
  change(() => (seen.version = version));
  const [now, before] = await Promise.all([threadAt(pane, version), version > 1 ? threadAt(pane, version - 1) : null]);
  if (asking === asked) change(() => Object.assign(seen, { now, before }));
}

async function threadAt(pane: Pane, version: number): Promise<Past> {
  const data = await query<{ threadAt: Past }>(
    `query($thread: ID!, $viewer: ID!, $version: Int!) { threadAt(threadId: $thread, userAccountId: $viewer, version: $version) {
      version name deleted members { userAccountId role } messages(first: 100) { id userAccountId text } } }`,
    { thread: pane.selected, viewer: pane.viewer.id, version },
  );
  return data.threadAt;
}

export function History(): Child {
  const pane = state.panes[state.front];
  if (!pane?.selected) return <p class="card quiet">Open a thread in the chat first: its past is shown here.</p>;
  const last = seen.events.at(-1)?.seqNr ?? 1;
  return (
    <div class="past">
      <section class="card" aria-label="Events">
        <h2>{pane.thread?.name ?? 'The thread'}, event by event</h2>
        {seen.problem && <p class="problem" role="alert">{seen.problem}</p>}
        <label class="slider">
          <span>
            As it was after event <b>{seen.version}</b> of {last}
          </span>
          <input
            type="range"
            min={seen.events[0]?.seqNr ?? 1}
            max={last}
            value={String(seen.version)}
            onInput={(event: Event) => void goTo(pane, Number((event.target as HTMLInputElement).value))}
          />
        </label>
        <Timeline pane={pane} />
      </section>
      <section class="card" aria-label="The thread as it was">
        <Then />
      </section>
      <section class="card wide" aria-label="Causes">
        <h2>What led to what</h2>
        <Causes thread={seen.thread} name={pane.thread?.name ?? ''} events={seen.events} />
      </section>
    </div>
  );
}

function Timeline({ pane }: { pane: Pane }): Child {
  return (
    <ol class="timeline">
      {seen.events.map((event) => (
        <li key={event.eventId} class={event.seqNr === seen.version ? 'now' : event.seqNr > seen.version ? 'later' : ''}>
          <button aria-current={event.seqNr === seen.version ? 'step' : undefined} onClick={() => void goTo(pane, event.seqNr)}>
            <b>{event.seqNr}</b> {words(event.type)} <small>{nameOf(undefined, event.executorId)}, {time(event.occurredAt)}</small>
          </button>
          {event.seqNr === seen.version && <pre tabindex="0">{JSON.stringify(event.data, null, 2)}</pre>}
        </li>
      ))}
    </ol>
  );
}

function Then(): Child {
  const { now, before } = seen;
  if (!now) return <p class="quiet">…</p>;
  const old = new Map(before?.messages.map((message) => [message.id, message.text]) ?? []);
  const gone = before?.messages.filter((message) => !now.messages.some((each) => each.id === message.id)) ?? [];
  const roles = new Map(before?.members.map((member) => [member.userAccountId, member.role]) ?? []);
  const left = before?.members.filter((member) => !now.members.some((each) => each.userAccountId === member.userAccountId)) ?? [];
  const mark = (was: string | undefined, is: string): string => (was === undefined ? 'added' : was !== is ? 'changed' : '');
  return (
    <>
      <h2 class={before && before.name !== now.name ? 'changed' : ''}>
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
            <p>{message.text}</p>
          </li>
        ))}
        {gone.map((message) => (
          <li key={message.id} class="message removed">
            <p>{message.text}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
