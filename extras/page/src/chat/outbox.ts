// The outbox: what people have ordered and the write-api has not answered yet. Each person's commands are sent one after
// the other, in their order, each with its key until its outcome is known. They outlive a reload, and a lost connection;
// so does a message that was rejected.
import { computed, effect, signal } from '@preact/signals';
import { alphabet, command, inWords, ulid } from '../api.ts';
import type { Command, Fields, Outcome, OutcomeOf } from '../api.ts';
import type { ShownMessage } from '../queries.ts';
import type { MessageAnswer } from '../requests.ts';
import { afterFirst, beforeFirst } from '../slow.ts';
import { keep, personOf, recalled, state } from '../state.ts';
import { lab } from './forlab.ts';
import { Pane, panes } from './panes.ts';

export interface Entry {
  key: string; // the Idempotency-Key; keys are in order
  person: string;
  path: Command;
  fields: Record<string, unknown>;
  state: 'waiting' | 'written' | 'rejected';
  after?: string; // the last message of the thread when it was ordered
  version?: number; // of the thread, once it is written
  message?: string; // the id of a posted message, once it is written
  reason?: string; // of a refusal
}

export const outbox = signal<Entry[]>([]);

const prefix = 'threads.outbox.'; // an entry a key, so that tabs don't overwrite each other's
const answered = new Map<string, (outcome: Outcome) => void>();
const sending = new Set<string>(); // by person

/** The commands of each person that wait to be sent. */
export const waiting = computed(() => Map.groupBy(outbox.value.filter((entry) => entry.state === 'waiting'), (entry) => entry.person));

const store = (entry: Entry): void => keep(prefix + entry.key, JSON.stringify(entry));

/** Sends a command after those that wait already. */
export function order<C extends Command>(person: string, path: C, fields: Fields<C>): Promise<OutcomeOf<C>> {
  const { thread_id } = fields as { thread_id?: string };
  const thread = panes.peek().find((pane) => pane.id === person && pane.selected.peek() === thread_id)?.thread.peek();
  const after = thread?.messages.edges.at(-1)?.node.id ?? '';
  const entry: Entry = { key: nextKey(), person, path, fields: fields as Record<string, unknown>, state: 'waiting', after };
  store(entry);
  outbox.value = [...outbox.peek(), entry];
  return new Promise((done) => {
    answered.set(entry.key, done as (outcome: Outcome) => void);
    void send(person);
  });
}

/** Sends a command from a pane. A refusal is told. */
export async function orderFrom<C extends Command>(pane: Pane, field: string, path: C, fields: Fields<C>): Promise<OutcomeOf<C>> {
  pane.problem(field, '');
  const outcome = await order(pane.id, path, fields);
  if (!outcome.ok) refuse(pane, field, fields, inWords(outcome.problem));
  return outcome;
}

/** Says why a command was refused: beside its field, or where another thread is open by now with the name of its own. */
export function refuse(pane: Pane, field: string, { thread_id: thread }: { thread_id?: unknown }, reason: string): void {
  if (!thread || ['', thread].includes(pane.selected.peek())) pane.problem(field, reason);
  else pane.problem('draft', `${pane.threadName(String(thread))}: ${reason}`);
}

/** Goes on with what was not answered before the page was loaded. */
export function resume(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix)).sort();
  last = keys.at(-1)?.slice(prefix.length) ?? ''; // what is ordered now comes after them, also if the clock was set back
  const entries = keys.map((key) => recalled<Entry | null>(key, null)).filter((entry) => entry !== null);
  const account = state.session.peek().account;
  outbox.value = entries.filter((entry) => !account || entry.person === account);
  for (const person of new Set(outbox.value.map((entry) => entry.person))) void send(person);
}

// What was not sent without a session is sent after a login in another tab.
effect(() => {
  const { csrf, expired } = state.session.value;
  if (csrf && !expired) for (const person of waiting.peek().keys()) void send(person);
});

async function send(person: string): Promise<void> {
  if (sending.has(person)) return;
  sending.add(person);
  try {
    for (let entry = first(person); entry; entry = first(person)) {
      if (entry.path === post && !isBroken()) await beforeFirst(entry.key);
      const outcome = await command(entry.path, personOf(person), entry.fields, entry.key);
      if (!outcome.ok) afterFirst(entry.key, false);
      if (!outcome.ok && outcome.problem.status === 401) break; // it is sent after the next login
      const rejected: Entry | null = !outcome.ok && entry.path === post ? { ...entry, state: 'rejected', reason: inWords(outcome.problem) } : null;
      if (rejected) store(rejected); // until somebody has mended it, or thrown it away
      else localStorage.removeItem(prefix + entry.key);
      const tell = answered.get(entry.key);
      answered.delete(entry.key);
      if (outcome.ok && entry.path === post) posted.set(person, (outcome.answer as MessageAnswer).message_id);
      if (!isMessage(entry)) drop(entry);
      else if (outcome.ok) replace({ ...entry, ...writtenAs(outcome.answer as MessageAnswer) });
      else if (rejected) replace(rejected);
      else drop(entry);
      if (tell) tell(outcome);
      else if (!outcome.ok && entry.path !== post) report(entry, inWords(outcome.problem));
    }
  } finally {
    sending.delete(person);
  }
}

/** Something is broken on purpose: it is shown at its own speed. */
const isBroken = (): boolean => Object.values(lab.peek()?.faults.peek() ?? {}).some(Boolean);

/** Says in words that a command was rejected that nobody waits for since the page was loaded again. A text is put back. */
function report(entry: Entry, reason: string): void {
  const name = entry.path.split('/')[2]?.replaceAll('_', ' ');
  const pane = panes.peek().find((each) => each.id === entry.person) ?? new Pane(entry.person);
  refuse(pane, 'draft', entry.fields, `Rejected: ${name}: ${reason}`);
  if (isMessage(entry)) pane.putBack(entry.fields.thread_id, entry.fields.text);
}

const first = (person: string): Entry | undefined => waiting.peek().get(person)?.[0];

export const post = '/threads/post_message';

const isMessage = (entry: Entry): boolean => entry.path.endsWith('_message');

/** The event that it has become; it can be told before the answer comes. */
export const versionOf = (entry: Entry): number | undefined => entry.version ?? state.traces.value.find((trace) => trace.key === entry.key)?.version;

const writtenAs = ({ version, message_id }: MessageAnswer): Partial<Entry> => ({ state: 'written', version, message: message_id });

function replace(entry: Entry): void {
  // The push of a version can come before the answer of its command.
  outbox.value = outbox.peek().map((each) => (each.key === entry.key ? entry : each)).filter((each) => !isSeen(each));
}

export function drop(entry: Entry): void {
  localStorage.removeItem(prefix + entry.key);
  outbox.value = outbox.peek().filter((each) => each.key !== entry.key);
}

const posted = new Map<string, string>(); // by person, the id of the message that was posted last

/** The push of a message can come before the answer of its command, which says its id. */
export const isPushed = (entry: Entry, messages: ShownMessage[]): boolean =>
  entry === first(entry.person) && messages.some(({ id, userAccountId, text }) =>
    userAccountId === entry.person && id > (entry.after ?? '') && id > (posted.get(entry.person) ?? '') && text === String(entry.fields.text).trim());

const shown = new Map<string, number>(); // the version of a thread that a person sees

const placeOf = (entry: Entry): string => `${entry.person} ${String(entry.fields.thread_id)}`;

const isSeen = (entry: Entry): boolean => entry.state === 'written' && (shown.get(placeOf(entry)) ?? 0) >= (entry.version ?? 0);

/** Forgets what a person sees. */
export function seen(person: string, thread: string, version: number): void {
  shown.set(`${person} ${thread}`, version);
  if (outbox.peek().some(isSeen)) outbox.value = outbox.peek().filter((entry) => !isSeen(entry));
}

let last = '';

/** A new ULID that is above the last one. */
function nextKey(): string {
  const key = ulid();
  last = key.slice(0, 10) > last.slice(0, 10) ? key : last.slice(0, 10) + after(last.slice(10));
  return last;
}

/** The next number in ULIDs' digits. */
function after(digits: string): string {
  const rest = digits.slice(0, -1);
  return digits.endsWith('Z') ? `${after(rest)}0` : rest + alphabet[alphabet.indexOf(digits.slice(-1)) + 1];
}
