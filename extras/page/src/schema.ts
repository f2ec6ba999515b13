// Code generated from the GraphQL schema by go generate. DO NOT EDIT.

export interface Account {
  id: string;
  name: string;
  closed: boolean;
  version: number;
  createdAt: Time;
  updatedAt: Time;
}

export interface HistoryConnection {
  edges: Array<HistoryEdge>;
  pageInfo: PageInfo;
}

export interface HistoryEdge {
  cursor: string;
  node: HistoryEntry;
}

export interface HistoryEntry {
  seqNr: number;
  eventId: string;
  type: string;
  occurredAt: Time;
  executorId: string;
  commandId: string;
  correlationId: string;
  causationId: string;
  source: string;
  requestId: string;
  data: unknown;
}

export type JSON = unknown;

export interface Member {
  id: string;
  threadId: string;
  userAccountId: string;
  account: Account | null;
  role: Role;
  createdAt: Time;
  updatedAt: Time;
  createdBy: string;
  updatedBy: string;
}

export interface MemberConnection {
  edges: Array<MemberEdge>;
  pageInfo: PageInfo;
}

export interface MemberEdge {
  cursor: string;
  node: Member;
}

export interface Message {
  id: string;
  threadId: string;
  userAccountId: string;
  sender: Account | null;
  text: string;
  createdAt: Time;
  updatedAt: Time;
  createdBy: string;
  updatedBy: string;
}

export interface MessageConnection {
  edges: Array<MessageEdge>;
  pageInfo: PageInfo;
}

export interface MessageEdge {
  cursor: string;
  node: Message;
}

export interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

export interface Query {
  getThread: Thread;
  getThreadByCode: Thread;
  getThreads: Array<Thread>;
  getMember: Member;
  getMembers: Array<Member>;
  getMessage: Message;
  getMessages: Array<Message>;
  getAccount: Account;
  threads: ThreadConnection;
  threadHistory: HistoryConnection;
  accountHistory: HistoryConnection;
  threadAt: ThreadState;
  getTask: Task;
  tasks: TaskConnection;
  tenants: TenantConnection;
}

export type Role = 'ADMIN' | 'MEMBER';

export interface StateMember {
  userAccountId: string;
  role: Role;
  createdAt: Time;
}

export interface StateMessage {
  id: string;
  userAccountId: string;
  text: string;
  createdAt: Time;
  updatedAt: Time;
}

export interface Subscription {
  threadChanged: Thread;
  taskChanged: Task;
}

export interface Task {
  id: string;
  taskId: string;
  kind: string;
  status: string;
  done: number;
  total: number;
  rejected: number;
  message: string;
  version: number;
  createdAt: Time;
  updatedAt: Time;
  createdBy: string;
}

export interface TaskConnection {
  edges: Array<TaskEdge>;
  pageInfo: PageInfo;
}

export interface TaskEdge {
  cursor: string;
  node: Task;
}

export interface Tenant {
  code: string;
  suspended: boolean;
  version: number;
  createdAt: Time;
  updatedAt: Time;
}

export interface TenantConnection {
  edges: Array<TenantEdge>;
  pageInfo: PageInfo;
}

export interface TenantEdge {
  cursor: string;
  node: Tenant;
}

export interface Thread {
  id: string;
  name: string;
  code: string | null;
  ownerId: string;
  version: number;
  createdAt: Time;
  updatedAt: Time;
  createdBy: string;
  updatedBy: string;
  members: MemberConnection;
  messages: MessageConnection;
}

export interface ThreadConnection {
  edges: Array<ThreadEdge>;
  pageInfo: PageInfo;
}

export interface ThreadEdge {
  cursor: string;
  node: Thread;
}

export interface ThreadState {
  version: number;
  name: string;
  deleted: boolean;
  members: Array<StateMember>;
  messages: Array<StateMessage>;
}

export type Time = string;
