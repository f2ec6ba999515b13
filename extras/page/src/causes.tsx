// Causes: the events of a thread by request, with the events of accounts that caused some of them, and with the other
// events that those caused in the viewer's threads.
import { signal } from '@preact/signals';
import { accountHistory, history } from './actions.ts';
import { QueryError } from './api.ts';
import { nameOf } from './state.ts';
import type { HistoryEvent, Pane } from './state.ts';
import { byProcess, words } from './words.ts';

/** An event with the name of its aggregate. */
type Placed = HistoryEvent & { place: string };

const known = {
  viewer: '',
  accounts: new Map<string, Placed[]>(), // by account; empty where the viewer may not see them
  threads: new Map<string, { version: number; events: Placed[] }>(), // the viewer's others
};

const others = signal<Array<{ thread: string; events: Placed[] }>>([]); // all that is known; '': of an account

/** Reads the events of other aggregates that belong to the same requests. */
export async function loadCauses(pane: Pane, events: HistoryEvent[]): Promise<void> {
  const viewer = pane.id;
  if (known.viewer !== viewer) {
    known.accounts.clear();
    known.threads.clear();
    known.viewer = viewer;
  }
  const reactions = events.filter(byProcess);
  if (reactions.length === 0) return;
  const causes = reactions.filter((event) => !known.accounts.get(event.executorId)?.some((cause) => cause.eventId === event.causationId));
  const accounts = [...new Set(causes.map((event) => event.executorId))].filter((account) => known.accounts.get(account)?.length !== 0);
  const threads = pane.threads.peek().filter((thread) => thread.id !== pane.selected.peek() && known.threads.get(thread.id)?.version !== thread.version);
  await Promise.all([
    ...accounts.map(async (account) => {
      const found = await seen(accountHistory(account, 50));
      known.accounts.set(account, found.map((event) => ({ ...event, place: nameOf(undefined, account) })));
    }),
    ...threads.map(async ({ id, name, version }) => {
      const found = await seen(history(id, viewer, 200));
      known.threads.set(id, { version, events: found.map((event) => ({ ...event, place: name })) });
    }),
  ]);
  others.value = [
    ...[...known.accounts.values()].map((found) => ({ thread: '', events: found })),
    ...[...known.threads].map(([thread, other]) => ({ thread, events: other.events })),
  ];
}

/** No events where the viewer may not see them. */
const seen = (asked: Promise<HistoryEvent[]>): Promise<HistoryEvent[]> =>
  asked.catch((error: unknown) => {
    if (error instanceof QueryError && (error.code === 'FORBIDDEN' || error.code === 'NOT_FOUND')) return [];
    throw error;
  });

const shown = 12; // requests

export function Causes({ thread, name, events }: { thread: string; name: string; events: HistoryEvent[] }) {
  const requests = [...new Set(events.map((event) => event.correlationId))].slice(-shown).reverse();
  const found = others.value.filter((other) => other.thread !== thread).flatMap((other) => other.events);
  const all = [...events.map((event): Placed => ({ ...event, place: name })), ...found];
  return (
    <ul class="causes">
      {requests.map((request) => (
        <Request key={request} id={request} events={all.filter((event) => event.correlationId === request)} />
      ))}
    </ul>
  );
}

function Request({ id, events }: { id: string; events: Placed[] }) {
  const roots = events.filter((event) => !events.some((other) => other.eventId === event.causationId));
  return (
    <li>
      <span class="quiet">request …{id.slice(-8)}</span>
      <ul>{roots.map((event) => <Cause key={event.eventId} event={event} all={events} />)}</ul>
    </li>
  );
}

function Cause({ event, all }: { event: Placed; all: Placed[] }) {
  const led = all.filter((other) => other.causationId === event.eventId);
  const unseen = byProcess(event) && !all.some((other) => other.eventId === event.causationId);
  return (
    <li>
      <span class="cause">
        {unseen && `event …${event.causationId.slice(-8)}, which ${nameOf(undefined, event.executorId)} and operators see → `}
        {byProcess(event) && `${event.source} → `}command …{event.commandId.slice(-8)} →{' '}
      </span>
      <b>
        {event.seqNr} {words(event.type)}
      </b>{' '}
      <small>{event.place}</small>
      {led.length > 0 && <ul>{led.map((each) => <Cause key={each.eventId} event={each} all={all} />)}</ul>}
    </li>
  );
}
