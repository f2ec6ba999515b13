// What people do in the chat, and what is read for them.
import { command, longest, query, QueryError, readList, ulid } from '../api.ts';
import type { Outcome } from '../api.ts';
import { inFrame } from '../frame.ts';
import { follow } from '../live.ts';
import * as queries from '../queries.ts';
import type { MessagePage, ShownMessage, ShownThread } from '../queries.ts';
import type { AddMember } from '../requests.ts';
import { keep, know, recalled, state } from '../state.ts';
import type { Person } from '../state.ts';
import { arrived, left } from '../traces.ts';
import { reasonOf } from '../words.ts';
import * as out from './outbox.ts';
import { Pane, panes, unnamed } from './panes.ts';
import { countUnread } from './unread.ts';

/* GraphQL:
fragment ShownMember on Member { id userAccountId role account { name closed } }

fragment ShownThread on Thread {
  id name version
  members(first: 100) { ...MemberPage }
  messages(last: $last) { ...MessagePage }
}

fragment MemberPage on MemberConnection { edges { node { ...ShownMember } } pageInfo { hasNextPage endCursor } }

fragment ListedThread on Thread { id name version updatedAt }

subscription threadChanged($thread: ID!, $viewer: ID!, $last: Int!) {
  threadChanged(threadId: $thread, userAccountId: $viewer) { ...ShownThread }
}

query threadList($viewer: ID!, $first: Int!, $after: String) {
  threads(userAccountId: $viewer, first: $first, after: $after) { edges { node { ...ListedThread } } pageInfo { hasNextPage endCursor } }
}

query furtherMembers($thread: ID!, $viewer: ID!, $first: Int!, $after: String) {
  getThread(threadId: $thread, userAccountId: $viewer) { members(first: $first, after: $after) { ...MemberPage } }
}

query ownMember($thread: ID!, $viewer: ID!) { getMember(threadId: $thread, userAccountId: $viewer) { ...ShownMember } }

query earlierMessages($thread: ID!, $viewer: ID!, $last: Int!, $before: String!) {
  getThread(threadId: $thread, userAccountId: $viewer) { messages(last: $last, before: $before) { ...MessagePage } }
}

fragment MessagePage on MessageConnection { edges { node { ...ShownMessage } } pageInfo { hasPreviousPage startCursor } }

query account($id: ID!) { getAccount(accountId: $id) { id name closed version } }
*/

const page = 50; // messages

/** Loads the person's threads; the last changed is opened where none is. */
export async function loadThreads(pane: Pane, token = ''): Promise<void> {
  try {
    const count = pane.listed.peek();
    const { list: threads, more } = await readList(count, async (range) => (await query(queries.threadList, { viewer: pane.id, ...range }, token)).threads);
    if (count !== pane.listed.peek()) return; // more are asked for
    pane.hasMore.value = more;
    const listed = threads.some((thread) => thread.id === pane.selected.peek());
    for (const { id } of pane.threads.peek()) if (!more && id !== pane.selected.peek() && !threads.some((thread) => thread.id === id)) left(id, pane.id);
    if (JSON.stringify(threads) !== JSON.stringify(pane.threads.peek())) pane.threads.value = threads;
    for (const { id, version } of threads) if (id !== pane.selected.peek()) arrived(id, version, { threads: [{ id, version }] });
    const latest = threads[0];
    if (!pane.selected.peek() && latest) open(pane, latest.id);
    // Who has left a thread and is added again is back, and so is a thread that was not in the rows yet.
    else if (pane.gone.peek() && pane.absent && listed) open(pane, pane.selected.peek());
    pane.absent = !listed;
    pane.problem('threads', '');
    void countUnread(pane, threads);
  } catch (error) {
    if (error instanceof QueryError) pane.problem('threads', error.message);
  }
}

/** Lists twice as many of the person's threads. */
export function listMore(pane: Pane): void {
  pane.listed.value *= 2;
  void loadThreads(pane);
}

/** Opens a thread and follows it. */
export function open(pane: Pane, thread: string): void {
  if (!panes.peek().includes(pane)) return; // another person has taken its place
  pane.unfollow();
  if (pane.selected.peek()) pane.problems.value = {}; // else they are of what was sent before the page was loaded
  pane.selected.value = thread;
  pane.thread.value = null;
  pane.panel.value = 'messages'; // here, and not when it is drawn: by then somebody may have opened the other one
  pane.older.value = [];
  pane.stale = false;
  pane.pushed = null;
  pane.more.value = null;
  pane.own.value = null;
  pane.further.value = [];
  pane.wantedMembers = 0;
  pane.gone.value = '';
  pane.editing.value = null;
  if (!thread) return;
  const begin = (): (() => void) => follow(
    queries.threadChanged, { thread, viewer: pane.id, last: page },
    (data) => {
      if (pane.selected.peek() !== thread) return;
      pane.gone.value = '';
      soon(pane, data.threadChanged);
    },
    (code, message) => {
      if (code !== 'NOT_FOUND' && code !== 'FORBIDDEN') { // it passes: what is shown stays
        const again = setTimeout(() => (pane.unfollow = begin()), 1000);
        pane.unfollow = () => clearTimeout(again);
        if (!pane.thread.peek()) pane.gone.value = message;
        return;
      }
      const made = state.traces.peek().some((trace) => trace.path === '/threads/create' && trace.aggregate === thread && trace.stage === 'written');
      if (code !== 'NOT_FOUND') pane.gone.value = message;
      else if (made) pane.gone.value = 'The new thread is not in the rows yet.';
      else {
        left(thread, pane.id);
        pane.gone.value = `${pane.viewer.name} is not in this thread any more, or it has been deleted.`;
      }
      pane.pushed = pane.thread.value = null;
      pane.panel.value = 'messages';
      pane.absent = true; // once it is listed, it is opened again
    },
  );
  pane.unfollow = begin();
}

const busy = 50; // milliseconds between two changes that are drawn

/** Shows a change in the next frame, and of many in quick succession the last, so that an import does not keep the page busy. */
function soon(pane: Pane, thread: ShownThread): void {
  const wait = pane.drawn + busy - performance.now();
  const waiting = pane.pushed !== null;
  pane.pushed = { thread, at: performance.now() };
  if (waiting) return;
  const draw = (): void => {
    const pushed = pane.pushed;
    pane.pushed = null;
    pane.drawn = performance.now();
    if (pushed?.thread.id === pane.selected.peek()) refresh(pane, pushed.thread, pushed.at);
  };
  if (wait > 0) setTimeout(() => inFrame(draw), wait);
  else inFrame(draw);
}

const mostOlder = 2000; // messages that are kept while somebody has scrolled up: of more, only the last are read again

const nodes = (messages: MessagePage): ShownMessage[] => messages.edges.map((edge) => edge.node);

/** The read model has a version: what was pending up to it is there. at is when it was pushed. */
function refresh(pane: Pane, thread: ShownThread, at: number): void {
  const before = pane.thread.peek();
  const known = [...pane.older.peek(), ...(before ? nodes(before.messages) : [])];
  const latest = nodes(thread.messages);
  const start = known.findIndex((message) => message.id === latest[0]?.id);
  pane.older.value = known.slice(0, Math.max(0, start)); // after a gap, only the latest are known
  if (pane.older.value.length === 0) pane.more.value = thread.messages.pageInfo.hasPreviousPage ? thread.messages.pageInfo.startCursor : null;
  pane.thread.value = thread;
  if (latest.length === 0 || latest.some(({ id }) => known.some((each) => each.id === id))) keepEdit(pane, known); // not after a gap
  pane.threads.value = pane.threads.peek().map((each) => (each.id === thread.id ? { ...each, name: thread.name, version: thread.version } : each));
  out.seen(pane.id, thread.id, thread.version);
  arrived(thread.id, thread.version, { threadChanged: brief(thread) }, at);
  // New messages explain the new version. If they don't, one of the older ones may have changed.
  const posted = latest.filter((message) => !known.some((each) => each.id === message.id)).length;
  const changed = before && (pane.older.value.length > 0 || pane.loading === thread.id) && thread.version - before.version !== posted;
  if (changed || pane.older.value.length > mostOlder) {
    pane.stale = true;
    readAgain(pane);
  }
  if (thread.members.pageInfo.hasNextPage) void readMembers(pane);
  else {
    pane.own.value = null;
    pane.further.value = [];
    pane.manyMembers.value = false;
  }
}

/** Puts back what is being edited if its message was there and is not any more. */
function keepEdit(pane: Pane, before: ShownMessage[]): void {
  const editing = pane.editing.peek();
  const isIn = (messages: ShownMessage[]): boolean => messages.some(({ id }) => id === editing?.id);
  if (!editing || !isIn(before) || isIn(pane.messages)) return;
  pane.editing.value = null;
  pane.putBack(pane.selected.peek(), editing.text);
  pane.problem('draft', 'The message that you were editing has been deleted.');
}

/** Reads members after the thread's first ones, and the person's own membership if it is not among those. */
export async function readMembers(pane: Pane): Promise<void> {
  const thread = pane.thread.peek();
  if (!thread || pane.reading) return;
  const count = pane.wantedMembers;
  pane.reading = true;
  try {
    const asked = { thread: thread.id, viewer: pane.id };
    const { edges, pageInfo } = thread.members;
    const [own, further] = await Promise.all([
      edges.some(({ node }) => node.userAccountId === pane.id) ? null : query(queries.ownMember, asked),
      count === 0 ? { list: [], more: true } : readList(count, async (range) => (await query(queries.furtherMembers, { ...asked, ...range })).getThread.members, pageInfo.endCursor),
    ]);
    if (pane.selected.peek() !== thread.id) return;
    pane.own.value = own?.getMember ?? null;
    pane.further.value = further.list;
    pane.manyMembers.value = further.more;
    pane.problem('further', '');
  } catch (error) {
    if (pane.selected.peek() === thread.id) pane.problem('further', reasonOf(error));
  } finally {
    pane.reading = false;
    const now = pane.thread.peek();
    if ((now !== thread || pane.wantedMembers !== count) && now?.members.pageInfo.hasNextPage) void readMembers(pane); // it has changed meanwhile
  }
}

/** Reads the earlier messages again, if one of them may have changed. */
function readAgain(pane: Pane): void {
  const count = pane.older.peek().length;
  if (pane.stale && count > 0) void loadEarlier(pane, count);
}

/** Loads messages that were posted before the latest ones; with a count, those that are there are read again. */
export async function loadEarlier(pane: Pane, again = 0): Promise<void> {
  const thread = pane.thread.peek();
  const before = again ? thread?.messages.pageInfo.startCursor : pane.more.peek();
  if (!thread || !before || pane.loading === thread.id) return;
  pane.loading = thread.id;
  const first = pane.older.peek()[0];
  let wait = 250; // milliseconds
  if (again) pane.stale = false;
  try {
    const count = again > mostOlder ? longest : again || page;
    let read: ShownMessage[] = [];
    let more: string | null = before;
    while (more && read.length < count) {
      const range = { last: Math.min(count - read.length, longest), before: more };
      const messages: MessagePage = (await query(queries.earlierMessages, { thread: thread.id, viewer: pane.id, ...range })).getThread.messages;
      if (pane.selected.peek() !== thread.id) return;
      read = [...nodes(messages), ...read];
      more = messages.pageInfo.hasPreviousPage ? messages.pageInfo.startCursor : null;
    }
    const older = pane.older.peek();
    if (again ? older[0] !== first : pane.more.peek() !== before) return; // after many new messages, only the latest are known
    pane.older.value = [...read, ...older.slice(again)];
    if (again <= mostOlder) keepEdit(pane, older);
    pane.more.value = more;
    pane.problem('earlier', '');
  } catch (error) {
    if (pane.selected.peek() !== thread.id) return;
    pane.problem('earlier', reasonOf(error));
    if (again) [pane.stale, wait] = [true, 2000];
  } finally {
    if (pane.loading === thread.id) pane.loading = '';
    if (pane.stale) setTimeout(() => readAgain(pane), wait);
  }
}

const mostEarlier = 500; // messages

/** Forgets earlier messages, if there are many: who scrolls up loads them again. */
export function forgetEarlier(pane: Pane): void {
  if (pane.older.peek().length <= mostEarlier || pane.editing.peek()) return;
  pane.older.value = [];
  pane.more.value = pane.thread.peek()?.messages.pageInfo.startCursor ?? null;
}

const brief = (thread: ShownThread): unknown => ({
  id: thread.id, name: thread.name, version: thread.version, messages: { edges: thread.messages.edges.slice(-1) },
});

type Role = AddMember['role'];

export const rename = (pane: Pane, name: string): Promise<Outcome> => out.orderFrom(pane, 'name', '/threads/rename', { ...pane.onThread, name });
export const deleteThread = (pane: Pane): Promise<Outcome> => out.orderFrom(pane, 'name', '/threads/delete', pane.onThread);
export const removeMember = (pane: Pane, user: string): Promise<Outcome> =>
  out.orderFrom(pane, 'members', '/threads/remove_member', { ...pane.onThread, user_account_id: user });
export const changeRole = (pane: Pane, user: string, role: Role): Promise<Outcome> =>
  out.orderFrom(pane, 'members', '/threads/change_member_role', { ...pane.onThread, user_account_id: user, role });

export async function addMember(pane: Pane, user: string, role: Role): Promise<boolean> {
  const outcome = await out.orderFrom(pane, 'add', '/threads/add_member', { ...pane.onThread, user_account_id: user, role });
  if (outcome.ok) for (const other of panes.peek()) if (other.id === user) void loadThreads(other, outcome.token);
  return outcome.ok;
}

export async function createThread(pane: Pane, name: string): Promise<boolean> {
  const outcome = await out.orderFrom(pane, 'new', '/threads/create', { name });
  if (!outcome.ok) return false;
  open(pane, outcome.answer.thread_id);
  await loadThreads(pane, outcome.token);
  return true;
}

/** Gives a person a name that others see. */
export async function register(person: Person): Promise<Outcome> {
  const outcome = await command('/accounts/register', person, { name: person.name });
  if (outcome.ok) void readAccount(person.id, outcome.token);
  return outcome;
}

/** Learns by which name others know who has logged in. A user of the issuer for development is registered. */
export async function readName(pane: Pane): Promise<void> {
  try {
    const data = await query(queries.account, { id: pane.id });
    know({ id: pane.id, name: data.getAccount.name });
  } catch (error) {
    if (!(error instanceof QueryError && error.code === 'NOT_FOUND')) return;
    unnamed.value = true;
    if (state.session.peek().auth === 'dev') await registerName(pane);
  }
}

/** Registers the name of who has logged in. */
export async function registerName(pane: Pane): Promise<void> {
  const outcome = await out.orderFrom(pane, 'account', '/accounts/register', { name: pane.viewer.name });
  if (!outcome.ok) return;
  unnamed.value = false;
  void readAccount(pane.id, outcome.token);
}

export async function closeAccount(pane: Pane): Promise<void> {
  const outcome = await out.orderFrom(pane, 'account', '/accounts/close', {});
  if (outcome.ok) void readAccount(pane.id, outcome.token);
}

/** Asks for an account until the read model has the version that the token names. */
async function readAccount(id: string, token: string): Promise<void> {
  for (;;) {
    try {
      const data = await query(queries.account, { id }, token);
      return arrived(token.split(':')[0] ?? '', data.getAccount.version, data);
    } catch (error) {
      if (error instanceof QueryError && error.code !== 'READ_MODEL_BEHIND' && error.code !== 'UNAVAILABLE') return;
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
}

/** Who is in which pane, where nobody is asked who they are. */
export function remember(): void {
  if (state.session.peek().account) return;
  for (const each of recalled<Person[]>('threads.people', [])) if (!state.people.peek().some(({ id }) => id === each.id)) know(each); // by another tab
  keep('threads.people', JSON.stringify(state.people.peek()));
  keep('threads.panes', JSON.stringify(panes.peek().map((pane) => pane.id)));
}

export function recall(): void {
  const people = recalled<Person[]>('threads.people', []);
  state.people.value = people;
  const ids = recalled<string[]>('threads.panes', []).filter((id) => people.some((person) => person.id === id));
  panes.value = (ids.length > 0 ? ids : people.slice(0, 2).map((person) => person.id)).map((id) => new Pane(id));
}

/** Shows what another person sees. */
export function replacePane(at: number, id: string): void {
  panes.peek()[at]?.unfollow();
  const pane = new Pane(id);
  panes.value = panes.peek().map((each, i) => (i === at ? pane : each));
  remember();
  void loadThreads(pane);
}

/** Registers a new person, and shows what they see. */
export async function newPerson(at: number, name: string): Promise<Outcome> {
  const person = { id: ulid(), name: name.trim() };
  const outcome = await register(person);
  if (outcome.ok) {
    know(person);
    replacePane(at, person.id);
  }
  return outcome;
}

/** Ada and Bob, each in a pane, in a thread of theirs: the shortest way to see something. */
export async function begin(): Promise<void> {
  const [ada, bob] = [{ id: ulid(), name: 'Ada' }, { id: ulid(), name: 'Bob' }];
  await Promise.all([register(ada), register(bob)]);
  know(ada);
  know(bob);
  const first = new Pane(ada.id);
  panes.value = [first, new Pane(bob.id)];
  remember();
  if (await createThread(first, 'Tea at four')) await addMember(first, bob.id, 'Member');
}

/** Who has an id or a name among the people that this page knows; else what was typed, which may be an id. */
export const idOf = (typed: string): string =>
  state.people.peek().find((person) => person.name.toLowerCase() === typed.trim().toLowerCase())?.id ?? typed.trim();

