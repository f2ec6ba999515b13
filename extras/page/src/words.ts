// Events in words.
import { typeOf } from './application.ts';
import type { Event as Told } from './requests.ts';
import { nameOf } from './state.ts';
import type { HistoryEvent } from './state.ts';

/** An event of any aggregate, as the journal has it. */
export interface JournalEvent extends HistoryEvent {
  tenant: string;
  aid: string;
  position: number; // in the whole journal; 0: unknown
  raw: unknown; // as it is stored
}

export type Fields = Record<string, unknown>;

export const value = (of: unknown): string => String((of as Fields | undefined)?.value ?? of ?? '');

/** Makes what the programs tell of an event one for the page. */
export function read(told: Told): JournalEvent {
  const { type, id, aggregate_id: _, seq_nr: __, executor_id, occurred_at, tenant_code: ___, command_id, correlation_id, causation_id, source,
    client_ip: ____, request_id, traceparent: _____, ...data } = (typeof told.event === 'object' ? told.event : {}) as Fields;
  return {
    tenant: told.tenant, aid: told.aid, position: told.position ?? 0, raw: told.event, data,
    seqNr: told.seq_nr, eventId: value(id), type: String(type ?? 'unreadable'), occurredAt: String(occurred_at ?? ''), executorId: value(executor_id),
    commandId: String(command_id ?? ''), correlationId: String(correlation_id ?? ''), causationId: String(causation_id ?? ''),
    source: String(source ?? ''), requestId: String(request_id ?? ''),
  };
}

/** A type of events in words, without the type of the aggregate where two other words say enough. */
export const words = (type: string): string => type.replace(/^[A-Z][a-z]+(?=[A-Z][a-z]+[A-Z])/, '').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

/** A process manager's command is caused by an event of another aggregate. */
export const byProcess = (event: HistoryEvent): boolean => event.source.startsWith('process/');

/** An event in a sentence. */
export const sentence = (event: JournalEvent): string => typeOf(event.aid)?.sentence?.(event) ?? inShort(event);

/** Who did what, by the event's type. */
export const inShort = (event: HistoryEvent): string => `${nameOf(undefined, event.executorId)}: ${words(event.type)}`;

/** A time as people say it. */
export const inTime = (ms: number): string => (ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** A number of things. */
export const counted = (n: number, one: string, more = `${one}s`): string => `${n.toLocaleString()} ${n === 1 ? one : more}`;

/** What an error says. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
