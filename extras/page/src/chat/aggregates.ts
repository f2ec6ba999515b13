// The aggregates of chat: what their events say, which rows they change, and what they are called.
import { query } from '../api.ts';
import type { Aggregate } from '../application.ts';
import * as queries from '../queries.ts';
import { nameOf, state } from '../state.ts';
import type { HistoryEvent } from '../state.ts';
import { search } from '../watch.ts';
import { inShort, value } from '../words.ts';
import type { Fields } from '../words.ts';
import { panes } from './panes.ts';

const idOf = (aid: string): string => aid.slice(aid.lastIndexOf('-') + 1);

/* GraphQL:
query threadRow($key: ID!, $viewer: ID!) {
  row: getThread(threadId: $key, userAccountId: $viewer) { id name code ownerId version createdAt updatedAt updatedBy }
}

query memberRow($thread: ID!, $user: ID!) {
  row: getMember(threadId: $thread, userAccountId: $user) { id threadId userAccountId role createdAt updatedAt updatedBy }
}

query messageRow($key: ID!, $viewer: ID!) {
  row: getMessage(messageId: $key, userAccountId: $viewer) { id threadId userAccountId text createdAt updatedAt updatedBy }
}

query accountRow($key: ID!) { row: getAccount(accountId: $key) { id name closed version createdAt updatedAt } }
*/

export const thread: Aggregate = {
  type: 'thread',
  key: idOf,
  sentence,
  rows: (event, viewer) => {
    const data = event.data as Fields;
    const id = idOf(event.aid);
    const rows = [{ table: 'threads', key: id, read: (): Promise<{ row: unknown }> => query(queries.threadRow, { key: id, viewer }) }];
    const message = value((data.message as Fields | undefined)?.id ?? data.message_id);
    if (message) rows.push({ table: 'messages', key: message, read: () => query(queries.messageRow, { key: message, viewer }) });
    const member = (data.member ?? Object.values((data.members as Fields | undefined)?.members ?? {})[0]) as Fields | undefined;
    const key = value(member?.id ?? data.member_id);
    const user = value(member?.user_account_id ?? data.user_account_id);
    if (member || data.member_id) rows.push({ table: 'members', key, read: () => query(queries.memberRow, { thread: id, user }) });
    return rows;
  },
  name: async (aid) => {
    if (!state.session.peek().operator) return '';
    const listed = panes.peek().flatMap((pane) => pane.threads.peek()).find((each) => each.id === idOf(aid));
    const given = async (type: string): Promise<string> =>
      String(((await search({ aid, type, limit: 1 })).events[0]?.data as { name?: unknown } | undefined)?.name ?? '');
    return listed?.name ?? ((await given('ThreadRenamed')) || given('ThreadCreated'));
  },
};

export const account: Aggregate = {
  type: 'account',
  sentence,
  rows: ({ aid }) => [{ table: 'accounts', key: idOf(aid), read: () => query(queries.accountRow, { key: idOf(aid) }) }],
  name: async (aid) => {
    const found = await query(queries.account, { id: idOf(aid) });
    return found.getAccount.name;
  },
};

const quoted = (text: unknown): string => (typeof text === 'string' ? `“${text.length > 60 ? `${text.slice(0, 59)}…` : text}”` : 'what is sealed');

interface Before {
  name?: string | undefined;
  texts?: ReadonlyMap<string, string> | undefined; // by message
}

/** An event in a sentence. What was before makes it more exact. */
export function sentence(event: HistoryEvent, before: Before = {}): string {
  const who = nameOf(undefined, event.executorId);
  const data = event.data as Fields;
  const message = data.message as Fields | undefined;
  const old = before.texts?.get(value(message?.id ?? data.message_id));
  const member = nameOf(undefined, value((data.member as Fields | undefined)?.user_account_id ?? data.user_account_id));
  const role = String(data.role ?? (data.member as Fields | undefined)?.role ?? '');
  switch (event.type) {
    case 'ThreadCreated':
      return `${who} created the thread ${quoted(data.name)}`;
    case 'ThreadRenamed':
      return `${who} renamed ${before.name ? quoted(before.name) : 'the thread'} to ${quoted(data.name)}`;
    case 'ThreadDeleted':
      return `${who} deleted the thread`;
    case 'ThreadMemberAdded':
      return `${who} added ${member} as ${role}`;
    case 'ThreadMemberRemoved':
      return member === who ? `${who} left` : `${who} removed ${member}`;
    case 'ThreadMemberRoleChanged':
      return `${who} made ${member} ${role}`;
    case 'ThreadMessagePosted':
      return `${who} said ${quoted(message?.text)}`;
    case 'ThreadMessageEdited':
      return `${who} edited ${old === undefined ? 'a message' : quoted(old)} into ${quoted(message?.text)}`;
    case 'ThreadMessageDeleted':
      return `${who} deleted ${old === undefined ? 'a message' : quoted(old)}`;
    case 'AccountRegistered':
      return `${typeof data.name === 'string' ? data.name : who} registered`;
    case 'AccountRenamed':
      return `an account is now called ${quoted(data.name)}`;
    case 'AccountClosed':
      return `${who} closed the account`;
    case 'AccountErased':
      return `${who} had the account erased: nobody can read what it wrote any more`;
    default:
      return inShort(event);
  }
}
