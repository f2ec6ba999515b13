// All that several parts of the page know, in signals: what reads a signal while it is drawn is drawn again when the
// signal changes, and nothing else is. Values are replaced, never changed.
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { ShownMessage } from './message.tsx';
import type { Member, Thread } from './schema.ts';

export type Person = { id: string; name: string };

/** A command on its way, as this page has seen it. Times are milliseconds since the page was opened. */
export interface Trace {
  key: string; // the Idempotency-Key
  path: string;
  executor: string; // by name
  executorId: string;
  body: Record<string, unknown>;
  attempts: number;
  stage: 'sent' | 'unknown' | 'invalid' | 'refused' | 'written' | 'visible';
  sentAt: number;
  answeredAt?: number;
  visibleAt?: number; // when a pushed answer first had the version
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

/** An event of a thread, as the journal has it. */
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

export type ShownMember = Pick<Member, 'id' | 'userAccountId' | 'role'> & { account: { name: string; closed: boolean } | null };
export type ShownThread = Pick<Thread, 'id' | 'name' | 'version'> & {
  members: { edges: Array<{ node: ShownMember }> };
  messages: MessagePage;
};

export type MessagePage = { edges: Array<{ node: ShownMessage }>; pageInfo: { hasPreviousPage: boolean; startCursor: string | null } };
export type ListedThread = Pick<Thread, 'id' | 'name' | 'version' | 'updatedAt'>;

/** What one person sees. */
export class Pane {
  readonly id: string; // of the person
  readonly threads = signal<ListedThread[]>([]);
  readonly selected = signal('');
  readonly thread = signal<ShownThread | null>(null);
  readonly gone = signal(''); // why the thread can't be seen any more
  readonly panel = signal<'messages' | 'people'>('messages');
  readonly drafts = new Map<string, Signal<string>>(); // by thread
  readonly editing = signal<{ id: string; text: string } | null>(null);
  readonly older = signal<ShownMessage[]>([]); // before those of the thread
  readonly more = signal<string | null>(null); // the cursor before which there are more
  readonly problems = signal<Record<string, string>>({}); // by field
  readonly unread = signal<Record<string, number>>({}); // by thread
  absent = false; // from the list of threads that was read last
  loading = false; // earlier messages
  pushed: ShownThread | null = null; // not drawn yet
  drawn = 0; // when the thread was drawn last
  unfollow = (): void => undefined;

  constructor(id: string) {
    this.id = id;
  }

  get viewer(): Person {
    return personOf(this.id);
  }

  /** The field of a command that names the open thread. */
  get onThread(): { thread_id: string } {
    return { thread_id: this.selected.peek() };
  }

  /** What is being written to the open thread. */
  get draft(): Signal<string> {
    const thread = this.selected.value;
    const draft = this.drafts.get(thread) ?? signal('');
    this.drafts.set(thread, draft);
    return draft;
  }

  get messages(): ShownMessage[] {
    return [...this.older.value, ...(this.thread.value?.messages.edges.map((edge) => edge.node) ?? [])];
  }

  get members(): ShownMember[] {
    return this.thread.value?.members.edges.map((edge) => edge.node) ?? [];
  }

  get admin(): boolean {
    return this.members.some((member) => member.userAccountId === this.id && member.role === 'ADMIN');
  }

  /** Says in words what is wrong with a field; '': nothing is. */
  problem(field: string, text: string): void {
    const known = this.problems.peek();
    if ((known[field] ?? '') !== text) this.problems.value = { ...known, [field]: text };
  }
}

export interface Session {
  auth: string;
  lab: boolean;
  operator: boolean; // may operate the programs, and see all events
  account?: string;
  name?: string;
  csrf?: string;
  users?: Array<{ name: string; account: string }>; // of the issuer for development
  expired?: boolean;
}

export interface ProgramStatus {
  name: string;
  up: boolean;
  health?: {
    status: string;
    reason?: string;
    warnings?: string[];
    behind_seconds?: number;
    behind_records?: number;
    active?: boolean;
    parked_aggregates?: number | null;
    drifted_aggregates?: number;
    checks?: Record<string, string>;
    rebuild?: { phase: string; events: number; events_total: number; seconds_left: number };
  };
  figures: Record<string, number>;
}

/** How the projection is, once a second; duplicates and filled count since it was started. */
export type Sample = { at: number; lag: number; records: number; duplicates: number; filled: number };

export type View = 'chat' | 'events' | 'history' | 'lab' | 'operations';

export const state = {
  view: signal<View>('chat'),
  session: signal<Session>({ auth: 'none', lab: false, operator: false }),
  ready: signal(false),
  live: signal<'connecting' | 'connected' | 'lost'>('connecting'),
  people: signal<Person[]>([]),
  panes: signal<Pane[]>([]),
  unnamed: signal(false), // nobody has registered the account that is logged in
  front: signal(0), // the pane that a narrow screen shows
  traces: signal<Trace[]>([]), // the latest first
  trace: signal(''), // the one that is looked at; '': the latest
  station: signal(''),
  status: signal<ProgramStatus[]>([]),
  samples: signal<Sample[]>([]),
};

export const frontPane = (): Pane | undefined => state.panes.value[state.front.value];

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

export const nameOf = (name: string | undefined, id: string): string => name ?? personOf(id).name;

export function updateTrace(key: string, changed: Partial<Trace>): void {
  state.traces.value = state.traces.peek().map((trace) => (trace.key === key ? { ...trace, ...changed } : trace));
}
