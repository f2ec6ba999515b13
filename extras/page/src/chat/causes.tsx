// extra:history
// Causes: the events of a thread by request, with the events of accounts that caused some of them, and with the other
// events that those caused in the viewer's threads.
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { QueryError } from '../api.ts';
import { nameOf, state } from '../state.ts';
import type { HistoryEvent } from '../state.ts';
import { placeOf, sameRequest } from '../watch.ts';
import { byProcess, counted, words } from '../words.ts';
import type { JournalEvent } from '../words.ts';
import { accountHistory, history } from './journal.ts';
import type { Pane } from './panes.ts';

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
    others.value = [];
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

interface CausesProps {
  thread: string;
  name: string;
  events: HistoryEvent[];
  chosen: HistoryEvent | undefined;
}

export function Causes({ thread, name, events, chosen }: CausesProps) {
  const requests = [...new Set(events.map((event) => event.correlationId))].slice(-shown).reverse();
  const found = others.value.filter((other) => other.thread !== thread).flatMap((other) => other.events);
  const all = [...events.map((event): Placed => ({ ...event, place: name })), ...found];
  const same = all.filter((event) => event.correlationId === chosen?.correlationId);
  return (
    <>
      {chosen && <Graph key={chosen.correlationId} chosen={chosen} seen={same} />}
      <ul class="causes">
        {requests.map((request) => (
          <Request key={request} id={request} events={all.filter((event) => event.correlationId === request)} />
        ))}
      </ul>
    </>
  );
}

const [width, height, most] = [220, 66, 30]; // of a place in the graph, in pixels, and events

/** What one request led to, across aggregates: a column for each, and time from top to bottom. */
function Graph({ chosen, seen }: { chosen: HistoryEvent; seen: Placed[] }) {
  const found = useSignal<JournalEvent[]>([]);
  const { operator } = state.session.value;
  useEffect(() => {
    if (operator) void sameRequest(chosen).then((events) => (found.value = events));
  }, [chosen.eventId]);
  const told = found.value.map((event): Placed => ({ ...event, place: placeOf(event) }));
  const all = [...told, ...seen.filter((event) => !told.some((each) => each.eventId === event.eventId))];
  const events = all.sort((a, b) => (a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : a.seqNr - b.seqNr)).slice(0, most);
  if (events.length === 0) return null;
  const columns = [...new Set(events.map((event) => event.place))];
  const at = (i: number): [number, number] => [columns.indexOf(events[i]?.place ?? '') * width, (i + 1) * height];
  const arrows = events.map((event, i) => {
    const cause = events.findIndex((each) => each.eventId === event.causationId);
    const [x, y] = at(i);
    const [fromX, fromY] = cause < 0 ? [0, 0] : at(cause);
    if (cause < 0 && byProcess(event)) return ''; // by an event that this viewer does not see
    const [startX, startY, endX, endY] = [fromX + 24, fromY + height - 16, x + 24, y];
    return `M ${startX} ${startY} C ${startX} ${startY + 14}, ${endX} ${endY - 14}, ${endX} ${endY}`;
  });
  const size = { width: `${columns.length * width}px`, height: `${(events.length + 1) * height}px` };
  return (
    <div class="wide-table" tabIndex={0} role="group" aria-label="Graph of causes">
      <div class="graph" style={size}>
        <svg aria-hidden="true" width={columns.length * width} height={(events.length + 1) * height}>
          {arrows.map((path, i) => <path key={i} d={path} />)}
        </svg>
        <span class="node" style={{ left: 0, top: 0 }}>
          command of {nameOf(undefined, events[0]?.executorId ?? '')}
          <br />
          <small>request …{chosen.correlationId.slice(-6)}</small>
        </span>
        {events.map((event, i) => {
          const [left, top] = at(i);
          return (
            <span key={event.eventId} class={`node ${event.eventId === chosen.eventId ? 'chosen' : ''}`} style={{ left: `${left}px`, top: `${top}px` }}>
              <b dir="auto">
                {event.place} {event.seqNr}
              </b>
              <br />
              {words(event.type)} <small>{byProcess(event) ? event.source.replace('process/', 'by ') : nameOf(undefined, event.executorId)}</small>
            </span>
          );
        })}
      </div>
      {all.length > most && <p class="quiet">and {counted(all.length - most, 'more event')}</p>}
    </div>
  );
}

function Request({ id, events }: { id: string; events: Placed[] }) {
  const roots = events.filter((event) => !events.some((other) => other.eventId === event.causationId));
  return (
    <li>
      <span class="quiet">request …{id.slice(-6)}</span>
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
