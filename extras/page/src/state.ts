// All that several parts of the page know, in signals: what reads a signal while it is drawn is drawn again when the
// signal changes, and nothing else is. Values are replaced, never changed.
import { signal } from '@preact/signals';
import type { ProgramStatus, SessionAnswer } from './requests.ts';

export type Person = { id: string; name: string };

/** A command on its way, as this page has seen it. Times are milliseconds since the page was opened. */
export interface Trace {
  key: string; // the Idempotency-Key
  path: string;
  executor: string; // by name
  executorId: string;
  body: Record<string, unknown>;
  attempts: number;
  stage: 'sent' | 'unknown' | 'invalid' | 'rejected' | 'written' | 'visible';
  sentAt: number;
  answeredAt?: number;
  writtenAt?: number; // when it was first known that its event is in the journal
  visibleAt?: number; // when a pushed answer first had the version
  lost?: boolean; // its record never came
  status?: number;
  answer?: unknown;
  token?: string;
  requestId?: string;
  replayed?: boolean;
  aggregate?: string;
  version?: number;
  pushed?: unknown;
  event?: HistoryEvent | null; // null: it may not be seen
}

/** An event of an aggregate, as the journal has it. */
export interface HistoryEvent {
  seqNr: number;
  eventId: string;
  type: string;
  occurredAt: string;
  executorId: string;
  commandId: string;
  correlationId: string;
  causationId: string;
  source: string;
  requestId: string;
  data: unknown;
}

export type Session = SessionAnswer & { expired?: boolean };

/** How the projection is, once a second; duplicates and filled count since it was started. */
export type Sample = { at: number; lag: number; records: number; atLeast: boolean; duplicates: number; filled: number }; // at least: lag and records may be higher

export const state = {
  view: signal(''), // by its id
  session: signal<Session>({ auth: 'none', lab: false, operator: false }),
  ready: signal(false),
  live: signal<'connecting' | 'connected' | 'lost'>('connecting'),
  people: signal<Person[]>([]),
  traces: signal<Trace[]>([]), // the latest first
  trace: signal(''), // the one that is looked at; '': the latest
  station: signal(''),
  status: signal<ProgramStatus[]>([]),
  samples: signal<Sample[]>([]),
};

/** The names of aggregates that this page has learned, by aid; '': they have none, or it may not be seen. */
export const learned = signal<Record<string, string>>({});

let ask = (_aid: string): void => undefined;

/** Has a function called with each aggregate whose name is not known. */
export function onUnknown(asker: (aid: string) => void): void {
  ask = asker;
}

/** The name of an aggregate, or else the end of its id. */
export function aggregateName(aid: string): string {
  const name = learned.value[aid];
  if (name === undefined) ask(aid);
  return name || `${aid.slice(0, aid.lastIndexOf('-'))} …${aid.slice(-6)}`;
}

export const personOf = (id: string): Person => {
  const known = state.people.value.find((person) => person.id === id);
  if (known) return known;
  const aid = `account-${id}`;
  if (learned.value[aid] === undefined) ask(aid);
  return { id, name: learned.value[aid] || `…${id.slice(-6)}` };
};

/** Knows a person by name. */
export function know(person: Person): void {
  const known = state.people.peek();
  state.people.value = known.some((each) => each.id === person.id) ? known.map((each) => (each.id === person.id ? person : each)) : [...known, person];
}

export const nameOf = (name: string | undefined, id: string): string => name ?? personOf(id).name;

export function updateTrace(key: string, changed: Partial<Trace>): void {
  state.traces.value = state.traces.peek().map((trace) => (trace.key === key ? { ...trace, ...changed } : trace));
}

/** Keeps a text beyond a reload, if the browser has room for it. */
export function keep(key: string, text: string, storage = localStorage): void {
  try {
    storage.setItem(key, text);
  } catch {
    // It is full: what the page shows needs no storage.
  }
}

/** What keep has kept; nothing where there is none, or none that can be read. */
export function recalled<T>(key: string, nothing: T): T {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? 'null') as T | null) ?? nothing;
  } catch {
    return nothing;
  }
}
