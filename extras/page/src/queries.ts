// Code generated from the queries in comments and the GraphQL schema by go generate. DO NOT EDIT.

/** A document, with the types of its variables and of its answer. */
export interface Query<Variables, Answer> {
  name: string;
  text: string;
  types?: (variables: Variables) => Answer; // never there
}

export type ShownMember = { account: null | { closed: boolean; name: string; }; id: string; role: 'ADMIN' | 'MEMBER'; userAccountId: string; };

export type ShownThread = { id: string; members: MemberPage; messages: MessagePage; name: string; version: number; };

export type MemberPage = { edges: Array<{ node: ShownMember; }>; pageInfo: { endCursor: null | string; hasNextPage: boolean; }; };

export type ListedThread = { id: string; name: string; updatedAt: string; version: number; };

export type MessagePage = { edges: Array<{ node: ShownMessage; }>; pageInfo: { hasPreviousPage: boolean; startCursor: null | string; }; };

export type Past = { deleted: boolean; members: Array<{ role: 'ADMIN' | 'MEMBER'; userAccountId: string; }>; messages: Array<{ id: string; text: string; userAccountId: string; }>; name: string; version: number; };

export type HistoryPage = { edges: Array<{ node: { causationId: string; commandId: string; correlationId: string; data: unknown; eventId: string; executorId: string; occurredAt: string; requestId: string; seqNr: number; source: string; type: string; }; }>; };

export type ShownMessage = { createdAt: string; id: string; sender: null | { name: string; }; text: string; updatedAt: string; userAccountId: string; };

export type ShownTask = { createdAt: string; createdBy: string; done: number; id: string; kind: string; message: string; rejected: number; status: string; taskId: string; total: number; updatedAt: string; version: number; };

export const threadChanged: Query<{ last: number; thread: string; viewer: string; }, { threadChanged: ShownThread; }> = {
  name: 'threadChanged',
  text: 'subscription threadChanged ($thread: ID!, $viewer: ID!, $last: Int!) { threadChanged(threadId: $thread, userAccountId: $viewer) { ... ShownThread } } fragment ShownMember on Member { id userAccountId role account { name closed } } fragment MemberPage on MemberConnection { edges { node { ... ShownMember } } pageInfo { hasNextPage endCursor } } fragment ShownMessage on Message { id userAccountId text createdAt updatedAt sender { name } } fragment MessagePage on MessageConnection { edges { node { ... ShownMessage } } pageInfo { hasPreviousPage startCursor } } fragment ShownThread on Thread { id name version members(first: 100) { ... MemberPage } messages(last: $last) { ... MessagePage } }',
};

export const threadList: Query<{ after?: null | string; first: number; viewer: string; }, { threads: { edges: Array<{ node: ListedThread; }>; pageInfo: { endCursor: null | string; hasNextPage: boolean; }; }; }> = {
  name: 'threadList',
  text: 'query threadList ($viewer: ID!, $first: Int!, $after: String) { threads(userAccountId: $viewer, first: $first, after: $after) { edges { node { ... ListedThread } } pageInfo { hasNextPage endCursor } } } fragment ListedThread on Thread { id name version updatedAt }',
};

export const furtherMembers: Query<{ after?: null | string; first: number; thread: string; viewer: string; }, { getThread: { members: MemberPage; }; }> = {
  name: 'furtherMembers',
  text: 'query furtherMembers ($thread: ID!, $viewer: ID!, $first: Int!, $after: String) { getThread(threadId: $thread, userAccountId: $viewer) { members(first: $first, after: $after) { ... MemberPage } } } fragment ShownMember on Member { id userAccountId role account { name closed } } fragment MemberPage on MemberConnection { edges { node { ... ShownMember } } pageInfo { hasNextPage endCursor } }',
};

export const ownMember: Query<{ thread: string; viewer: string; }, { getMember: ShownMember; }> = {
  name: 'ownMember',
  text: 'query ownMember ($thread: ID!, $viewer: ID!) { getMember(threadId: $thread, userAccountId: $viewer) { ... ShownMember } } fragment ShownMember on Member { id userAccountId role account { name closed } }',
};

export const earlierMessages: Query<{ before: string; last: number; thread: string; viewer: string; }, { getThread: { messages: MessagePage; }; }> = {
  name: 'earlierMessages',
  text: 'query earlierMessages ($thread: ID!, $viewer: ID!, $last: Int!, $before: String!) { getThread(threadId: $thread, userAccountId: $viewer) { messages(last: $last, before: $before) { ... MessagePage } } } fragment ShownMessage on Message { id userAccountId text createdAt updatedAt sender { name } } fragment MessagePage on MessageConnection { edges { node { ... ShownMessage } } pageInfo { hasPreviousPage startCursor } }',
};

export const account: Query<{ id: string; }, { getAccount: { closed: boolean; id: string; name: string; version: number; }; }> = {
  name: 'account',
  text: 'query account ($id: ID!) { getAccount(accountId: $id) { id name closed version } }',
};

export const threadRow: Query<{ key: string; viewer: string; }, { row: { code: null | string; createdAt: string; id: string; name: string; ownerId: string; updatedAt: string; updatedBy: string; version: number; }; }> = {
  name: 'threadRow',
  text: 'query threadRow ($key: ID!, $viewer: ID!) { row: getThread(threadId: $key, userAccountId: $viewer) { id name code ownerId version createdAt updatedAt updatedBy } }',
};

export const memberRow: Query<{ thread: string; user: string; }, { row: { createdAt: string; id: string; role: 'ADMIN' | 'MEMBER'; threadId: string; updatedAt: string; updatedBy: string; userAccountId: string; }; }> = {
  name: 'memberRow',
  text: 'query memberRow ($thread: ID!, $user: ID!) { row: getMember(threadId: $thread, userAccountId: $user) { id threadId userAccountId role createdAt updatedAt updatedBy } }',
};

export const messageRow: Query<{ key: string; viewer: string; }, { row: { createdAt: string; id: string; text: string; threadId: string; updatedAt: string; updatedBy: string; userAccountId: string; }; }> = {
  name: 'messageRow',
  text: 'query messageRow ($key: ID!, $viewer: ID!) { row: getMessage(messageId: $key, userAccountId: $viewer) { id threadId userAccountId text createdAt updatedAt updatedBy } }',
};

export const accountRow: Query<{ key: string; }, { row: { closed: boolean; createdAt: string; id: string; name: string; updatedAt: string; version: number; }; }> = {
  name: 'accountRow',
  text: 'query accountRow ($key: ID!) { row: getAccount(accountId: $key) { id name closed version createdAt updatedAt } }',
};

export const threadAt: Query<{ last: number; thread: string; version: number; viewer: string; }, { threadAt: Past; }> = {
  name: 'threadAt',
  text: 'query threadAt ($thread: ID!, $viewer: ID!, $version: Int!, $last: Int!) { threadAt(threadId: $thread, userAccountId: $viewer, version: $version) { ... Past } } fragment Past on ThreadState { version name deleted members { userAccountId role } messages(last: $last) { id userAccountId text } }',
};

export const threadHistory: Query<{ last: number; thread: string; upTo?: null | number; viewer: string; }, { page: HistoryPage; }> = {
  name: 'threadHistory',
  text: 'query threadHistory ($thread: ID!, $viewer: ID!, $last: Int!, $upTo: Int) { page: threadHistory(threadId: $thread, userAccountId: $viewer, last: $last, upTo: $upTo) { ... HistoryPage } } fragment HistoryPage on HistoryConnection { edges { node { seqNr eventId type occurredAt executorId commandId correlationId causationId source requestId data } } }',
};

export const accountHistory: Query<{ account: string; last: number; }, { page: HistoryPage; }> = {
  name: 'accountHistory',
  text: 'query accountHistory ($account: ID!, $last: Int!) { page: accountHistory(accountId: $account, last: $last) { ... HistoryPage } } fragment HistoryPage on HistoryConnection { edges { node { seqNr eventId type occurredAt executorId commandId correlationId causationId source requestId data } } }',
};

export const taskList: Query<{ after?: null | string; first: number; viewer: string; }, { tasks: { edges: Array<{ node: ShownTask; }>; pageInfo: { endCursor: null | string; hasNextPage: boolean; }; }; }> = {
  name: 'taskList',
  text: 'query taskList ($viewer: ID!, $first: Int!, $after: String) { tasks(userAccountId: $viewer, first: $first, after: $after) { edges { node { ... ShownTask } } pageInfo { hasNextPage endCursor } } } fragment ShownTask on Task { id taskId kind status done total rejected message version createdAt updatedAt createdBy }',
};

export const taskChanged: Query<{ task: string; viewer: string; }, { taskChanged: ShownTask; }> = {
  name: 'taskChanged',
  text: 'subscription taskChanged ($task: ID!, $viewer: ID!) { taskChanged(taskId: $task, userAccountId: $viewer) { ... ShownTask } } fragment ShownTask on Task { id taskId kind status done total rejected message version createdAt updatedAt createdBy }',
};

export const threadVersion: Query<{ thread: string; viewer: string; }, { getThread: { version: number; }; }> = {
  name: 'threadVersion',
  text: 'query threadVersion ($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }',
};

export const lastMessages: Query<{ thread: string; viewer: string; }, { getThread: { messages: { edges: Array<{ node: { createdAt: string; userAccountId: string; }; }>; }; }; }> = {
  name: 'lastMessages',
  text: 'query lastMessages ($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { messages(last: 100) { edges { node { userAccountId createdAt } } } } }',
};
