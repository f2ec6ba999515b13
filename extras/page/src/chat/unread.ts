// Which messages a person has not read yet, as this browser remembers it: for each thread, when the last message was
// posted that they have seen.
import { query } from '../api.ts';
import { lastMessages } from '../queries.ts';
import type { ListedThread, ShownMessage } from '../queries.ts';
import { keep, recalled } from '../state.ts';
import { panes } from './panes.ts';
import type { Pane } from './panes.ts';

/* GraphQL:
query lastMessages($thread: ID!, $viewer: ID!) {
  getThread(threadId: $thread, userAccountId: $viewer) { messages(last: 100) { edges { node { userAccountId createdAt } } } }
}
*/

type Read = Record<string, string>; // times by thread; '': of threads that have never been opened

const key = (pane: Pane): string => `threads.read.${pane.id}`;

const read = (pane: Pane): Read | null => recalled<Read | null>(key(pane), null);

/** The person has seen the messages up to this one. */
export function markRead(pane: Pane, message: ShownMessage | undefined): void {
  const thread = pane.selected.peek();
  const before = read(pane) ?? {};
  if (!message || document.hidden) return;
  if (pane.unread.peek()[thread]) pane.unread.value = { ...pane.unread.peek(), [thread]: 0 };
  if ((before[thread] ?? '') < message.createdAt) keep(key(pane), JSON.stringify({ ...before, [thread]: message.createdAt }));
}

const counted = new WeakMap<Pane, Map<string, number>>(); // the version at which a thread's messages were counted

/** Counts the unread messages of others in the threads that are not looked at. */
export async function countUnread(pane: Pane, threads: ListedThread[]): Promise<void> {
  let since = read(pane);
  if (!since) {
    since = { '': threads[0]?.updatedAt ?? '' }; // what was there before this browser was: nobody waits for it
    keep(key(pane), JSON.stringify(since));
  }
  const versions = counted.get(pane) ?? new Map<string, number>();
  counted.set(pane, versions);
  const listed = new Set(threads.map(({ id }) => id));
  for (const id of versions.keys()) if (!listed.has(id)) versions.delete(id);
  const unread = Object.entries(pane.unread.peek());
  if (unread.some(([id]) => !listed.has(id))) pane.unread.value = Object.fromEntries(unread.filter(([id]) => listed.has(id)));
  for (const { id, version } of threads) {
    const isOpen = id === pane.selected.peek() && !document.hidden;
    if (isOpen) versions.delete(id);
    if (isOpen || versions.get(id) === version) continue;
    versions.set(id, version);
    try {
      const data = await query(lastMessages, { thread: id, viewer: pane.id });
      const from = read(pane)?.[id] ?? since[''] ?? '';
      const count = data.getThread.messages.edges.filter(({ node }) => node.userAccountId !== pane.id && node.createdAt > from).length;
      if ((pane.unread.peek()[id] ?? 0) !== count) pane.unread.value = { ...pane.unread.peek(), [id]: count };
    } catch {
      versions.delete(id); // counted again next time
    }
  }
}

/** What another tab marks as read is counted again. */
addEventListener('storage', (event) => {
  const pane = panes.peek().find((each) => key(each) === event.key);
  if (!pane) return;
  const [before, now] = [event.oldValue, event.newValue].map((value) => JSON.parse(value ?? '{}') as Read);
  for (const id of Object.keys(now ?? {})) if (now?.[id] !== before?.[id]) counted.get(pane)?.delete(id);
  void countUnread(pane, pane.threads.peek());
});

/** All that is unread by the people on this page. */
export const unreadByAll = (): number =>
  panes.value.reduce((sum, pane) => Object.values(pane.unread.value).reduce((more, count) => more + count, sum), 0);
