// What happens in the whole system, also by other tabs, curl, imports and process managers: the updater tells which
// events enter the journal, and when the rows follow. Only operators are told.
import { batch, effect, signal } from '@preact/signals';
import { ask, check } from './api.ts';
import { typeOf } from './application.ts';
import { inFrame } from './frame.ts';
import type { News } from './requests.ts';
import { aggregateName, learned, onUnknown, state } from './state.ts';
import type { HistoryEvent } from './state.ts';
import { arrived, written } from './traces.ts';
import { read } from './words.ts';
import type { Fields, JournalEvent } from './words.ts';

export const kept = 200; // events

export const watched = {
  live: signal(false),
  events: signal<JournalEvent[]>([]), // the last ones, the first of them first
  rows: signal<Record<string, number>>({}), // the versions of rows, by keyOf
  ordered: signal<boolean | null>(null), // whether the journal has an order of all events; null: unknown
  head: signal(0), // the position of the last event of the journal; 0: unknown
  begun: signal(0), // how often the telling began
  told: signal(0), // how many events have been told
  missed: signal(false), // there have been more events than are told
};

/** Names an aggregate among those of all tenants. */
export const keyOf = (of: { tenant: string; aid: string }): string => `${of.tenant} ${of.aid}`;

/** An event that is not in the rows yet. */
export const isAhead = (event: JournalEvent): boolean => event.seqNr > (watched.rows.value[keyOf(event)] ?? 0);

let source: EventSource | null = null;
let wait = 1000; // milliseconds until it tries again

function connect(): void {
  source = new EventSource('/api/operate/events');
  source.onmessage = ({ data }) => take(JSON.parse(data as string) as News);
  source.onerror = () => {
    watched.live.value = false;
    if (source?.readyState !== EventSource.CLOSED) return; // it connects again by itself
    source = null;
    setTimeout(look, wait);
    wait = Math.min(wait * 2, 60_000); // where there are no operations, there is nobody to answer
  };
}

/** Follows while somebody looks: a browser has few connections for all of its tabs. */
function look(): void {
  const wanted = state.session.peek().operator && !state.session.peek().expired && !document.hidden;
  if (wanted && !source) connect();
  if (!wanted && source) {
    source.close();
    source = null;
    watched.live.value = false;
  }
}

function take(news: News): void {
  check('GET /operate/events', news);
  const events = (news.events ?? []).map(read);
  // A command's times are exact: this does not wait for the frame, and it is drawn with the rest.
  batch(() => {
    for (const { requestId, aid, seqNr } of events) written(requestId, typeOf(aid)?.key?.(aid) ?? aid, seqNr);
    for (const each of news.projected ?? []) if (typeOf(each.aid)?.changed) arrived(each.aid, each.version, each); // of many, one is followed
  });
  inFrame(() => show(news, events));
}

function show(news: News, told: JournalEvent[]): void {
  watched.live.value = true;
  wait = 1000;
  if (news.ordered !== undefined) begin(news.ordered);
  if (news.head) watched.head.value = Math.max(watched.head.peek(), news.head);
  if (news.skipped) watched.missed.value = true;
  if (news.projected) watched.rows.value = { ...watched.rows.peek(), ...Object.fromEntries(news.projected.map((each) => [keyOf(each), each.version])) };
  if (!news.events) return;
  const known = new Set(watched.events.peek().map((event) => event.eventId));
  const events = told.filter((event) => !known.has(event.eventId));
  watched.events.value = [...watched.events.peek(), ...events].slice(-kept);
  watched.told.value += events.length;
  const shown = new Set(watched.events.peek().map(keyOf));
  watched.rows.value = Object.fromEntries(Object.entries(watched.rows.peek()).filter(([key]) => shown.has(key)));
  know(events.flatMap(({ aid, data }): Array<[string, string]> => (typeof (data as Fields).name === 'string' ? [[aid, String((data as Fields).name)]] : [])));
}

/** The telling begins with what the rows lack. What came before it may have been missed, and is in the rows. */
function begin(ordered: boolean): void {
  watched.ordered.value = ordered;
  watched.missed.value ||= watched.begun.peek() > 0;
  watched.begun.value++;
  const rows = { ...watched.rows.peek() };
  for (const event of watched.events.peek()) rows[keyOf(event)] = Math.max(rows[keyOf(event)] ?? 0, event.seqNr);
  watched.rows.value = rows;
}

const mostNames = 2000;

/** Learns names of aggregates. Of too many, it forgets those before: what is shown is asked for again. */
function know(names: Array<[string, string]>): void {
  if (names.length === 0) return;
  const full = Object.keys(learned.peek()).length > mostNames;
  if (full) asked.clear();
  learned.value = { ...(full ? {} : learned.peek()), ...Object.fromEntries(names) };
}

/** Where a search goes on: before a position, or after what the store calls a place; 0: there are no more. */
export type Next = number | string;

export interface Found {
  events: JournalEvent[];
  next: Next;
}

/** Searches the whole journal, the latest events first. Without an order of all events, a part of it is read for that. */
export async function search(asked: Record<string, string | number>): Promise<Found> {
  const values = Object.entries(asked).filter(([, value]) => value !== '' && value !== 0).map(([key, value]): [string, string] => [key, String(value)]);
  const answer = await ask('GET /operate/journal', undefined, `?${new URLSearchParams(values)}`);
  const events = answer.events.map(read);
  return { events: asked.aid ? events.map((event) => ({ ...event, position: 0 })) : events, next: answer.next ?? answer.further ?? 0 }; // an aggregate's are numbered by themselves
}

const around = 5000; // positions: what belongs to one request is near

/** The events of the same request: without an order of all events only those that were told, as a search reads much. */
export async function sameRequest({ correlationId, position }: HistoryEvent & { position?: number }): Promise<JournalEvent[]> {
  if (!correlationId) return [];
  if (watched.ordered.peek() === false) return watched.events.peek().filter((event) => event.correlationId === correlationId);
  const found = await search({ correlation: correlationId, limit: 200, before: position ? position + around : 0 }).catch(() => null);
  return (found?.events ?? []).reverse();
}

const asked = new Set<string>();

/** Asks for the name of an aggregate, and if there is no answer again a while later. */
async function learn(aid: string): Promise<void> {
  if (asked.has(aid)) return;
  asked.add(aid);
  await Promise.resolve(); // not while the page is drawn
  try {
    const name = (await typeOf(aid)?.name(aid)) ?? '';
    if (!learned.peek()[aid]) know([[aid, name]]);
  } catch {
    setTimeout(() => asked.delete(aid), 30_000);
  }
}

/** The last event of an aggregate that anybody has written while this page watches. */
export const lastTold = (aid: string): JournalEvent | undefined => watched.events.value.findLast((event) => event.aid === aid);

/** Begins to follow. */
export function watch(): void {
  document.addEventListener('visibilitychange', look);
  effect(() => {
    void state.session.value;
    look();
  });
}

onUnknown((aid) => void learn(aid));

/** An event's aggregate, by name. */
export const placeOf = (event: JournalEvent): string => (event.tenant ? `${event.tenant}: ` : '') + aggregateName(event.aid);
