// All that the page knows. change is the only way to change it; the page is described again afterwards.
import type { Member, Message, Thread } from './schema.ts';

export type Person = { id: string; name: string };

/** A command on its way, as this page has seen it. Times are milliseconds since the page was opened. */
export interface Trace {
  key: string; // the Idempotency-Key
  path: string;
  executor: string;
  body: Record<string, unknown>;
  attempts: number;
  stage: 'sent' | 'unknown' | 'refused' | 'written' | 'visible';
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

/** A change that has been sent and is not in the read model yet. */
export interface Pending {
  key: string;
  kind: 'post' | 'edit' | 'delete';
  text: string;
  message?: string; // id, once it is known
  state: 'sending' | 'written' | 'refused';
  version?: number;
  reason?: string;
}

export type ShownMessage = Pick<Message, 'id' | 'userAccountId' | 'text' | 'createdAt' | 'updatedAt'> & { sender: { name: string } | null };
export type ShownMember = Pick<Member, 'id' | 'userAccountId' | 'role'> & { account: { name: string; closed: boolean } | null };
export type ShownThread = Pick<Thread, 'id' | 'name' | 'version'> & {
  members: { edges: Array<{ node: ShownMember }> };
  messages: { edges: Array<{ node: ShownMessage }>; pageInfo: { hasPreviousPage: boolean } };
};

/** What one person sees. */
export interface Pane {
  viewer: Person;
  threads: Array<Pick<Thread, 'id' | 'name' | 'version'>>;
  selected: string;
  thread: ShownThread | null;
  gone: string; // why the thread can't be seen any more
  panel: 'messages' | 'people';
  draft: string;
  editing: { id: string; text: string } | null;
  pending: Pending[];
  problems: Record<string, string>; // by field
  unfollow: () => void;
}

export interface Session {
  auth: string;
  lab: boolean;
  account?: string;
  name?: string;
  csrf?: string;
  users?: string[]; // of the issuer for development
  scopes?: string[];
  expired?: boolean;
  unnamed?: boolean; // nobody has registered the account
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

export type Sample = { at: number; lag: number; records: number };

export type View = 'chat' | 'history' | 'lab' | 'operations';

export const state = {
  view: 'chat' as View,
  session: { auth: 'none', lab: false } as Session,
  ready: false,
  live: 'connecting' as 'connecting' | 'connected',
  people: [] as Person[],
  panes: [] as Pane[],
  front: 0, // the pane that a narrow screen shows
  traces: [] as Trace[], // the latest first
  trace: '', // the one that is looked at
  following: true, // the latest is looked at
  station: '',
  status: [] as ProgramStatus[],
  samples: [] as Sample[],
};

let draw = (): void => undefined;
let due = false;

/** Has draw called after changes. */
export function onChange(drawer: () => void): void {
  draw = drawer;
}

/** Changes the state, and soon the page. */
export function change(how: () => unknown): void {
  how();
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    draw();
  });
}
