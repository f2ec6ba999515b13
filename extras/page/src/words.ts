// Events in words.
import { nameOf } from './state.ts';
import type { HistoryEvent } from './state.ts';

/** An event of any aggregate, as the journal has it. */
export interface JournalEvent extends HistoryEvent {
  tenant: string;
  aid: string;
  position: number; // in the whole journal; 0: unknown
  raw: unknown; // as it is stored
}

type Fields = Record<string, unknown>;

const value = (of: unknown): string => String((of as Fields | undefined)?.value ?? of ?? '');

/** Makes what the programs tell of an event one for the page. */
export function read(told: { tenant: string; aid: string; seq_nr: number; position?: number; event: unknown }): JournalEvent {
  const { type, id, aggregate_id: _, seq_nr: __, executor_id, occurred_at, tenant_code: ___, command_id, correlation_id, causation_id, source,
    client_ip: ____, request_id, traceparent: _____, ...data } = (typeof told.event === 'object' ? told.event : {}) as Fields;
  return {
    tenant: told.tenant, aid: told.aid, position: told.position ?? 0, raw: told.event, data,
    seqNr: told.seq_nr, eventId: value(id), type: String(type ?? 'unreadable'), occurredAt: String(occurred_at ?? ''), executorId: value(executor_id),
    commandId: String(command_id ?? ''), correlationId: String(correlation_id ?? ''), causationId: String(causation_id ?? ''),
    source: String(source ?? ''), requestId: String(request_id ?? ''),
  };
}

/** A type of events in words. */
export const words = (type: string): string => type.replace(/^Thread(?=M)/, '').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

/** A process manager's command is caused by an event of another aggregate. */
export const byProcess = (event: HistoryEvent): boolean => event.source.startsWith('process/');

export const quoted = (text: unknown): string => (typeof text === 'string' ? `“${text.length > 60 ? `${text.slice(0, 59)}…` : text}”` : 'what is sealed');

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
    default:
      return `${who}: ${words(event.type)}`;
  }
}

/** The rows of the read model that an event changes: tables and keys. */
export function rowsOf(event: JournalEvent): Array<{ table: string; key: string; user?: string }> {
  const data = event.data as Fields;
  const id = event.aid.slice(event.aid.lastIndexOf('-') + 1);
  if (event.aid.startsWith('account-')) return [{ table: 'accounts', key: id }];
  if (!event.aid.startsWith('thread-')) return [];
  const rows: Array<{ table: string; key: string; user?: string }> = [{ table: 'threads', key: id }];
  const message = value((data.message as Fields | undefined)?.id ?? data.message_id);
  if (message) rows.push({ table: 'messages', key: message });
  const member = (data.member ?? Object.values((data.members as Fields | undefined)?.members ?? {})[0]) as Fields | undefined;
  if (member || data.member_id) rows.push({ table: 'members', key: value(member?.id ?? data.member_id), user: value(member?.user_account_id ?? data.user_account_id) });
  return rows;
}
