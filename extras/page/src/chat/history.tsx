// extra:history
// Time travel: all events of a thread, page by page, and the thread as it was after any of them.
import { effect, signal, untracked } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { query } from '../api.ts';
import { moment, when } from '../common.tsx';
import { threadAt } from '../queries.ts';
import type { Past } from '../queries.ts';
import { nameOf, state } from '../state.ts';
import type { HistoryEvent } from '../state.ts';
import { reasonOf, words } from '../words.ts';
import { sentence } from './aggregates.ts';
import { Causes, loadCauses } from './causes.tsx';
import { history } from './journal.ts';
import { frontPane } from './panes.ts';
import type { Pane } from './panes.ts';

/* GraphQL:
fragment Past on ThreadState {
  version name deleted
  members { userAccountId role }
  messages(last: $last) { id userAccountId text }
}

query threadAt($thread: ID!, $viewer: ID!, $version: Int!, $last: Int!) {
  threadAt(threadId: $thread, userAccountId: $viewer, version: $version) { ...Past }
}
*/

interface Seen {
  thread: string;
  latest: number; // the number of the last event
  events: HistoryEvent[]; // around the version
  version: number;
  now: Past | null;
  before: Past | null;
  problem: string;
}

const nothing: Seen = { thread: '', latest: 0, events: [], version: 0, now: null, before: null, problem: '' };
const seen = signal<Seen>(nothing);
const playing = signal(0); // events a step; 0: it stands still

const page = 50; // events in the list
const shown = 40; // messages
const steps = [1, 10, 100, 1000];
const pace = 1000; // milliseconds from step to step

function see(changed: Partial<Seen>): void {
  seen.value = { ...seen.peek(), ...changed };
}

let loading = false;
let again = false;

/** Reads again what may have changed: one read at a time, however fast the thread changes. */
export function reload(): void {
  const pane = frontPane();
  again = true;
  if (loading || !pane || state.view.peek() !== 'history') return;
  loading = true;
  again = false;
  void load(pane).finally(() => {
    loading = false;
    if (again) reload();
  });
}

/** Loads the past of the thread that is open in the pane. */
async function load(pane: Pane): Promise<void> {
  const thread = pane.selected.peek();
  if (!thread) return;
  try {
    const latest = (await history(thread, pane.id, 1)).at(-1)?.seqNr ?? 0;
    if (seen.peek().thread !== thread) {
      seen.value = { ...nothing, thread };
      playing.value = 0;
    }
    const atEnd = seen.peek().version === seen.peek().latest;
    see({ latest, problem: '' });
    await goTo(pane, atEnd ? latest : seen.peek().version);
  } catch (error) {
    const known = seen.peek().thread === thread ? seen.peek() : { ...nothing, thread };
    seen.value = { ...known, problem: reasonOf(error) };
  }
}

let wanted = 0;
let going = false;

/** Goes to a version: one at a time, and of those that are wanted meanwhile only to the last. */
async function goTo(pane: Pane, version: number): Promise<void> {
  wanted = version;
  see({ version });
  if (going) return;
  going = true;
  try {
    for (let at = 0; at !== wanted || seen.peek().now?.version !== at; ) {
      at = wanted;
      await Promise.all([readStates(pane, at), readEvents(pane, at)]);
    }
    see({ problem: '' });
  } catch (error) {
    see({ problem: reasonOf(error) });
    playing.value = 0;
  } finally {
    going = false;
  }
}

async function readStates(pane: Pane, version: number): Promise<void> {
  const known = seen.peek();
  const before = known.now?.version === version - 1 ? known.now : version > 1 ? await readPast(pane, known.thread, version - 1) : null;
  const now = known.now?.version === version ? known.now : await readPast(pane, known.thread, version);
  if (version === wanted && seen.peek().thread === known.thread) see({ now, before });
}

/** Reads the page of the list that a version is in, and what caused its events. */
async function readEvents(pane: Pane, version: number): Promise<void> {
  const { events, latest, thread } = seen.peek();
  const last = events.at(-1)?.seqNr ?? 0;
  if (version >= (events[0]?.seqNr ?? Infinity) && (last === latest || version + 3 <= last)) return;
  const read = await history(thread, pane.id, page, Math.min(latest, Math.max(page, version + page / 5)));
  if (seen.peek().thread !== thread) return;
  see({ events: read });
  await loadCauses(pane, read);
}

async function readPast(pane: Pane, thread: string, version: number): Promise<Past> {
  const data = await query(threadAt, { thread, viewer: pane.id, version, last: shown });
  return data.threadAt;
}

/** Plays the past from here, or from the beginning if this is the end. */
function play(pane: Pane, step: number): void {
  const { version, latest } = seen.peek();
  playing.value = step;
  if (step && version === latest) void goTo(pane, 1);
}

setInterval(() => {
  const pane = frontPane();
  const { version, latest } = seen.peek();
  if (!playing.peek() || going || !pane || state.view.peek() !== 'history' || document.hidden) return;
  if (version >= latest) playing.value = 0;
  else void goTo(pane, Math.min(latest, version + playing.peek()));
}, pace);

// New events are pushed: the pane follows its thread.
effect(() => {
  void frontPane()?.thread.value?.version;
  if (state.view.value === 'history') untracked(reload);
});

/** The event of the version that is shown, in a sentence. */
function said(event: HistoryEvent, before: Past | null): string {
  const texts = new Map(before?.messages.map((message) => [message.id, message.text]));
  return sentence(event, { name: before?.name, texts });
}

export function History() {
  const pane = frontPane();
  const { thread, events, version, latest, problem, before, now } = seen.value;
  if (!pane?.selected.value) return <p class="card quiet">Open a thread in the chat first: its past is shown here.</p>;
  const event = events.find((each) => each.seqNr === version);
  const go = (to: number): void => {
    playing.value = 0;
    void goTo(pane, Math.min(latest, Math.max(1, to)));
  };
  return (
    <div class="past">
      <section class="card" aria-label="Events">
        <h2>
          <bdi>{now?.name ?? pane.thread.value?.name ?? 'The thread'}</bdi>, event by event
        </h2>
        <p class="quiet">The state after any event, made from the events up to it alone.</p>
        {problem && <p class="problem" role="alert">{problem}</p>}
        <label class="slider">
          <span>
            As it was after event <b>{version}</b> of {latest}
          </span>
          <input type="range" min={1} max={Math.max(1, latest)} value={version} onInput={(event) => go(Number(event.currentTarget.value))} />
        </label>
        <div class="row" role="group" aria-label="Play">
          {playing.value ? (
            <button class="primary" onClick={() => play(pane, 0)}>
              Pause
            </button>
          ) : (
            <button class="primary" disabled={latest < 2} onClick={() => play(pane, 1)}>
              Play
            </button>
          )}
          <button disabled={version <= 1} onClick={() => go(version - 1)}>
            Back
          </button>
          <button disabled={version >= latest} onClick={() => go(version + 1)}>
            Next
          </button>
          {latest > page && steps.map((step) => (
            <button key={step} aria-pressed={playing.value === step} onClick={() => play(pane, step)}>
              {step === 1 ? 'each event' : `every ${step}th`}
            </button>
          ))}
        </div>
        <p class="said" role="status" dir="auto">
          {event ? said(event, before?.version === version - 1 ? before : null) : '…'} {event && <small>{moment(event.occurredAt)}</small>}
        </p>
        <Timeline pane={pane} />
      </section>
      <section class="card" aria-label="The thread as it was">
        <Then />
      </section>
      <section class="card wide" aria-label="Causes">
        <h2>What led to what</h2>
        <Causes thread={thread} name={pane.thread.value?.name ?? ''} events={events} chosen={event} />
      </section>
    </div>
  );
}

/** Scrolls a list, and not the page, to the first of its items that match. */
function keepInView(list: HTMLElement | null, items: string): void {
  const item = list?.querySelector<HTMLElement>(items);
  if (!list || !item) return;
  const { top, bottom } = item.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (top < box.top) list.scrollTop -= box.top - top;
  else if (bottom > box.bottom) list.scrollTop += bottom - box.bottom;
}

function Timeline({ pane }: { pane: Pane }) {
  const { events, version, latest } = seen.value;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => keepInView(list.current, '.now'), [version, events]);
  const turn = (to: number): void => void goTo(pane, Math.min(latest, Math.max(1, to)));
  const first = events[0]?.seqNr ?? 1;
  const last = events.at(-1)?.seqNr ?? 1;
  return (
    <>
      {latest > page && (
        <div class="row pager">
          <button class="plain" disabled={first <= 1} onClick={() => turn(first - 1)}>
            Earlier
          </button>
          <small>
            {first} to {last}
          </small>
          <button class="plain" disabled={last >= latest} onClick={() => turn(last + 1)}>
            Later
          </button>
        </div>
      )}
      <ol class="timeline" ref={list}>
        {events.map((event) => (
          <li key={event.eventId} class={event.seqNr === version ? 'now' : event.seqNr > version ? 'later' : ''}>
            <button aria-current={event.seqNr === version ? 'step' : undefined} onClick={() => turn(event.seqNr)}>
              <b>{event.seqNr}</b> {words(event.type)} <small>{nameOf(undefined, event.executorId)}, {when(event.occurredAt)}</small>
            </button>
            {event.seqNr === version && <pre tabIndex={0}>{JSON.stringify(event.data, null, 2)}</pre>}
          </li>
        ))}
      </ol>
    </>
  );
}

function Then() {
  const { now, before } = seen.value;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => keepInView(list.current, '.changed, .removed, li:last-child'), [now]);
  if (!now) return <p class="quiet">…</p>;
  const old = new Map(before?.messages.map((message) => [message.id, message.text]) ?? []);
  const first = now.messages[0]?.id ?? '';
  // The last ones are known: what is older than the first of them is only out of sight. Ids are in the order of posting.
  const gone = before?.messages.filter((message) => !now.messages.some((each) => each.id === message.id) && (now.messages.length < shown || message.id > first)) ?? [];
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
      {now.messages.length === shown && <p class="quiet">The last {shown} messages, as they were then:</p>}
      <ul class="messages then" ref={list} tabIndex={0} aria-label="Messages">
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
