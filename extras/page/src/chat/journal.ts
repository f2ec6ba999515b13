// extra:history
// The journal of a thread or an account, where somebody is here who may ask for it.
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { query } from '../api.ts';
import { inFrame } from '../frame.ts';
import { lastKnown, moreCards } from '../map.tsx';
import type { Mapped } from '../map.tsx';
import * as queries from '../queries.ts';
import type { HistoryPage } from '../queries.ts';
import { state, updateTrace } from '../state.ts';
import type { HistoryEvent, Trace } from '../state.ts';
import { watched } from '../watch.ts';
import type { Tape } from './map.tsx';
import { panes } from './panes.ts';
import type { Pane } from './panes.ts';

/* GraphQL:
fragment HistoryPage on HistoryConnection {
  edges { node { seqNr eventId type occurredAt executorId commandId correlationId causationId source requestId data } }
}

query threadHistory($thread: ID!, $viewer: ID!, $last: Int!, $upTo: Int) {
  page: threadHistory(threadId: $thread, userAccountId: $viewer, last: $last, upTo: $upTo) { ...HistoryPage }
}

query accountHistory($account: ID!, $last: Int!) { page: accountHistory(accountId: $account, last: $last) { ...HistoryPage } }
*/

/** The last events of a thread up to one of them, or to its end, the first of them first. */
export async function history(thread: string, viewer: string, last: number, upTo?: number): Promise<HistoryEvent[]> {
  return events(await query(queries.threadHistory, { thread, viewer, last, upTo: upTo ?? null }));
}

/** The last events of an account. */
export async function accountHistory(account: string, last: number): Promise<HistoryEvent[]> {
  return events(await query(queries.accountHistory, { account, last }));
}

const events = (found: { page: HistoryPage }): HistoryEvent[] => found.page.edges.map((edge) => edge.node);

const adminOf = (thread: string | undefined): Pane | undefined => panes.peek().find((pane) => pane.thread.peek()?.id === thread && pane.admin);

/** Reads the event of a command, where an Admin is here. */
export async function readEvent(trace: Trace): Promise<void> {
  const admin = adminOf(trace.aggregate);
  if (!admin) return;
  try {
    const events = await history(trace.aggregate ?? '', admin.id, 5);
    updateTrace(trace.key, { event: events.find((event) => event.seqNr === trace.version) ?? null });
  } catch {
    updateTrace(trace.key, { event: null });
  }
}

let reading = false;
let wanted = ''; // the thread to read next; '': none

/** Reads the last events of a thread, where an Admin is here. */
async function readTape(thread: string, tape: Signal<Tape>): Promise<void> {
  wanted = thread;
  if (reading) return;
  reading = true;
  while (wanted) {
    const of = wanted;
    wanted = '';
    const admin = adminOf(of);
    const events = admin ? await history(of, admin.id, moreCards).catch(() => []) : [];
    inFrame(() => (tape.value = { thread: of, events }));
  }
  reading = false;
}

/** Reads the last events of a thread onto the tape whenever there may be more. */
export function useTape(of: Mapped, tape: Signal<Tape>): void {
  const records = watched.live.value ? 0 : state.samples.value.at(-1)?.records; // others write, too
  useEffect(() => void readTape(of.key, tape), [of.key, lastKnown(of), records]);
}
