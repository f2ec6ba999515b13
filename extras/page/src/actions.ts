// What people do in the chat: commands, and what is shown of them until the read model has them.
import { command, inWords, query, QueryError, ulid } from './api.ts';
import type { Outcome } from './api.ts';
import { follow } from './live.ts';
import { change, state } from './state.ts';
import type { HistoryEvent, Pane, Pending, Person, ShownThread, Trace } from './state.ts';
import { arrived, onSettled } from './traces.ts';

const threadFields = `id name version
  members(first: 200) { edges { node { id userAccountId role account { name closed } } } }
  messages(last: 50) { edges { node { id userAccountId text createdAt updatedAt sender { name } } } pageInfo { hasPreviousPage } }`;
const threadChanged = `subscription($thread: ID!, $viewer: ID!) { threadChanged(threadId: $thread, userAccountId: $viewer) { ${threadFields} } }`;
const threadList = `query($viewer: ID!) { threads(userAccountId: $viewer, first: 50) { edges { node { id name version } } } }`;

export function newPane(viewer: Person): Pane {
  return {
    viewer, threads: [], selected: '', thread: null, gone: '', panel: 'messages', draft: '', editing: null, pending: [], problems: {},
    unfollow: () => undefined,
  };
}

/** Loads the person's threads; the last changed is opened where none is. */
export async function loadThreads(pane: Pane, token = ''): Promise<void> {
  const viewer = pane.viewer.id;
  try {
    const data = await query<{ threads: { edges: Array<{ node: Pane['threads'][number] }> } }>(threadList, { viewer }, token);
    if (pane.viewer.id !== viewer) return;
    change(() => (pane.threads = data.threads.edges.map((edge) => edge.node)));
    const first = pane.threads[0];
    if (!pane.selected && first) open(pane, first.id);
  } catch (error) {
    if (error instanceof QueryError) change(() => (pane.problems.list = error.message));
  }
}

/** Opens a thread and follows it. */
export function open(pane: Pane, thread: string): void {
  pane.unfollow();
  change(() => Object.assign(pane, { selected: thread, thread: null, gone: '', pending: [], editing: null, problems: {} }));
  if (!thread) return;
  pane.unfollow = follow<{ threadChanged: ShownThread }>(
    threadChanged, { thread, viewer: pane.viewer.id },
    (data) => refresh(pane, data.threadChanged),
    (code, message) => {
      change(() => {
        pane.gone = code === 'NOT_FOUND' ? `${pane.viewer.name} is not in this thread any more, or it has been deleted.` : message;
        pane.thread = null;
      });
      void loadThreads(pane);
    },
  );
}

/** The read model has a version: what was pending up to it is there. */
function refresh(pane: Pane, thread: ShownThread): void {
  change(() => {
    pane.thread = thread;
    pane.pending = pane.pending.filter((each) => each.version === undefined || each.version > thread.version);
    const listed = pane.threads.find((each) => each.id === thread.id);
    if (listed) Object.assign(listed, { name: thread.name, version: thread.version });
  });
  arrived(thread.id, thread.version, { threadChanged: brief(thread) });
}

const brief = (thread: ShownThread): unknown => ({
  id: thread.id, name: thread.name, version: thread.version, messages: { edges: thread.messages.edges.slice(-1) },
});

onSettled((trace) => void readEvent(trace));

/** Reads the event of a command from the journal, where this server can be asked for history and an admin is here. */
async function readEvent(trace: Trace): Promise<void> {
  const admin = state.panes.find(({ thread, viewer }) =>
    thread?.id === trace.aggregate && thread?.members.edges.some(({ node }) => node.userAccountId === viewer.id && node.role === 'ADMIN'),
  );
  if (!admin) return;
  try {
    const events = await history(trace.aggregate ?? '', admin.viewer.id, 5);
    change(() => (trace.event = events.find((event) => event.seqNr === trace.version) ?? null));
  } catch {
    change(() => (trace.event = null));
  }
}

const entries = '{ edges { node { seqNr eventId type occurredAt executorId commandId correlationId causationId source requestId data } } }';

/** The last events of a thread, the first of them first. */
export async function history(thread: string, viewer: string, last: number): Promise<HistoryEvent[]> {
  const document = `query($thread: ID!, $viewer: ID!, $last: Int) { page: threadHistory(threadId: $thread, userAccountId: $viewer, last: $last) ${entries} }`;
  return events(document, { thread, viewer, last });
}

/** The last events of an account. */
export async function accountHistory(account: string, last: number): Promise<HistoryEvent[]> {
  return events(`query($account: ID!, $last: Int) { page: accountHistory(accountId: $account, last: $last) ${entries} }`, { account, last });
}

async function events(document: string, variables: Record<string, unknown>): Promise<HistoryEvent[]> {
  const { page } = await query<{ page: { edges: Array<{ node: HistoryEvent }> } }>(document, variables);
  return page.edges.map((edge) => edge.node);
}

/** Sends a command about the open thread. A refusal is told beside the field. */
async function send(pane: Pane, field: string, path: string, fields: Record<string, unknown>): Promise<Outcome> {
  change(() => delete pane.problems[field]);
  const outcome = await command(path, pane.viewer, fields);
  if (!outcome.ok) change(() => (pane.problems[field] = inWords(outcome.problem)));
  return outcome;
}

/** Posts a text; it is shown once it is in the read model. */
export const postText = (pane: Pane, text: string): Promise<Outcome> => send(pane, 'draft', '/threads/post_message', { ...onThread(pane), text });

const onThread = (pane: Pane): Record<string, unknown> => ({ thread_id: pane.selected });

/** Shows a change at once, grey until the read model has it. */
async function sendPending(pane: Pane, field: string, path: string, fields: Record<string, unknown>, pending: Omit<Pending, 'key' | 'state'>): Promise<boolean> {
  const shown: Pending = { ...pending, key: ulid(), state: 'sending' };
  const thread = pane.selected;
  change(() => pane.pending.push(shown));
  const outcome = await send(pane, field, path, fields);
  change(() => {
    if (!outcome.ok) {
      pane.pending = pane.pending.filter((each) => each !== shown);
      return;
    }
    shown.state = 'written';
    shown.version = outcome.answer.version;
    if (typeof outcome.answer.message_id === 'string') shown.message = outcome.answer.message_id;
    if (pane.selected === thread && (pane.thread?.version ?? 0) >= shown.version) pane.pending = pane.pending.filter((each) => each !== shown);
  });
  return outcome.ok;
}

export async function post(pane: Pane): Promise<void> {
  const text = pane.draft;
  if (!text.trim()) return;
  change(() => (pane.draft = ''));
  const done = await sendPending(pane, 'draft', '/threads/post_message', { ...onThread(pane), text }, { kind: 'post', text: text.trim() });
  if (!done && !pane.draft) change(() => (pane.draft = text)); // to be mended
}

export async function saveEdit(pane: Pane): Promise<void> {
  const editing = pane.editing;
  if (!editing) return;
  const fields = { ...onThread(pane), message_id: editing.id, text: editing.text };
  const done = await sendPending(pane, 'edit', '/threads/edit_message', fields, { kind: 'edit', text: editing.text.trim(), message: editing.id });
  if (done && pane.editing === editing) change(() => (pane.editing = null));
}

export const deleteMessage = (pane: Pane, id: string): Promise<boolean> =>
  sendPending(pane, 'draft', '/threads/delete_message', { ...onThread(pane), message_id: id }, { kind: 'delete', text: '', message: id });

export const rename = (pane: Pane, name: string): Promise<Outcome> => send(pane, 'name', '/threads/rename', { ...onThread(pane), name });
export const deleteThread = (pane: Pane): Promise<Outcome> => send(pane, 'name', '/threads/delete', onThread(pane));
export const removeMember = (pane: Pane, user: string): Promise<Outcome> =>
  send(pane, 'members', '/threads/remove_member', { ...onThread(pane), user_account_id: user });
export const changeRole = (pane: Pane, user: string, role: string): Promise<Outcome> =>
  send(pane, 'members', '/threads/change_member_role', { ...onThread(pane), user_account_id: user, role });

export async function addMember(pane: Pane, user: string, role: string): Promise<boolean> {
  const outcome = await send(pane, 'add', '/threads/add_member', { ...onThread(pane), user_account_id: user, role });
  if (outcome.ok) for (const other of state.panes) if (other.viewer.id === user) void loadThreads(other, outcome.token);
  return outcome.ok;
}

export async function createThread(pane: Pane, name: string): Promise<boolean> {
  const outcome = await send(pane, 'new', '/threads/create', { name });
  if (!outcome.ok) return false;
  open(pane, outcome.answer.thread_id as string);
  await loadThreads(pane, outcome.token);
  return true;
}

/** Gives a person a name that others see. */
export async function register(person: Person): Promise<Outcome> {
  const outcome = await command('/accounts/register', person, { name: person.name });
  if (outcome.ok || outcome.problem.code === 'account_exists') remember(person);
  if (outcome.ok) void readAccount(person.id, outcome.token);
  return outcome;
}

/** Learns by which name others know who has logged in. */
export async function readName(person: Person): Promise<void> {
  try {
    const data = await query<{ getAccount: { name: string } }>('query($id: ID!) { getAccount(accountId: $id) { name } }', { id: person.id });
    change(() => (person.name = data.getAccount.name));
  } catch (error) {
    if (error instanceof QueryError && error.code === 'NOT_FOUND') change(() => (state.session.unnamed = true));
  }
}

/** Registers the name of who has logged in. */
export async function registerName(pane: Pane): Promise<void> {
  const outcome = await send(pane, 'account', '/accounts/register', { name: pane.viewer.name });
  if (outcome.ok) change(() => (state.session.unnamed = false));
}

export async function closeAccount(pane: Pane): Promise<void> {
  const outcome = await send(pane, 'account', '/accounts/close', {});
  if (outcome.ok) void readAccount(pane.viewer.id, outcome.token);
}

/** Asks for an account, which waits for the version that the token names. */
async function readAccount(id: string, token: string): Promise<void> {
  try {
    const data = await query<{ getAccount: { version: number } }>(
      'query($id: ID!) { getAccount(accountId: $id) { id name closed version } }', { id }, token,
    );
    arrived(token.split(':')[0] ?? '', data.getAccount.version, data);
  } catch {
    // The read model is behind, or nobody answers: it has not been seen.
  }
}

const kept = 'threads.people';

export function remember(person: Person): void {
  change(() => (state.people = [...state.people.filter((each) => each.id !== person.id), person]));
  localStorage.setItem(kept, JSON.stringify(state.people));
}

export function recall(): Person[] {
  try {
    return JSON.parse(localStorage.getItem(kept) ?? '[]') as Person[];
  } catch {
    return [];
  }
}

/** Ada and Bob, each in a pane, in a thread of theirs: the shortest way to see something. */
export async function begin(): Promise<void> {
  const [ada, bob] = [{ id: ulid(), name: 'Ada' }, { id: ulid(), name: 'Bob' }];
  await Promise.all([register(ada), register(bob)]);
  const [first, second] = [newPane(ada), newPane(bob)];
  change(() => (state.panes = [first, second]));
  if (await createThread(first, 'Tea at four')) await addMember(first, bob.id, 'Member');
}
