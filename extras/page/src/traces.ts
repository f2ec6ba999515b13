// When a command's effect was first seen. The push of a version can come before the answer of its command.
import { state, updateTrace } from './state.ts';
import type { Trace } from './state.ts';

interface Arrival {
  version: number;
  at: number;
  pushed: unknown;
}

const arrivals = new Map<string, Arrival[]>(); // by aggregate, the first first; the aggregate that has changed last is the last
const mostAggregates = 1000;

let tell = (_trace: Trace): void => undefined;

/** Has a function called with every command whose effect is seen. */
export function onSettled(teller: (trace: Trace) => void): void {
  tell = teller;
}

/** Notes that a version of an aggregate can be read. */
export function arrived(aggregate: string, version: number, pushed: unknown, at = performance.now()): void {
  const known = arrivals.get(aggregate) ?? [];
  if (version <= (known.at(-1)?.version ?? 0)) return;
  arrivals.delete(aggregate);
  arrivals.set(aggregate, [...known, { version, at, pushed }].slice(-50));
  for (const oldest of arrivals.keys()) if (arrivals.size > mostAggregates) arrivals.delete(oldest);
  for (const trace of state.traces.peek()) settle(trace);
}

const endings = new Map<string, number>(); // by aggregate and person: when the person was known to have left it

/** Notes that a person has no access to an aggregate any more: all that they have done there is in the read model. */
export function left(aggregate: string, person: string): void {
  endings.set(`${aggregate} ${person}`, performance.now());
  for (const trace of state.traces.peek()) settle(trace);
}

/** The record of its event never came. */
export const isLost = (trace: Trace | undefined): boolean => trace?.stage === 'written' && trace.lost === true;

/** Notes that a command's event is in the journal: its answer says so, or what is told of the journal, which may be first. */
export function written(key: string, aggregate: string, version: number): void {
  const trace = state.traces.peek().find((each) => each.key === key);
  if (!trace || isWritten(trace)) return;
  const now = { stage: 'written', writtenAt: performance.now(), aggregate, version } as const;
  updateTrace(key, now);
  settle({ ...trace, ...now });
}

export const isWritten = (trace: Trace | undefined): boolean => trace?.stage === 'written' || trace?.stage === 'visible';

/** Makes a command that is written a visible one, if it is. */
function settle(trace: Trace): void {
  if (trace.stage !== 'written') return;
  const version = trace.version ?? 0;
  const ended = endings.get(`${trace.aggregate} ${trace.executorId}`) ?? 0;
  const first = ended > trace.sentAt
    ? { at: ended, pushed: 'NOT_FOUND' }
    : arrivals.get(trace.aggregate ?? '')?.find((each) => each.version >= version);
  if (!first) return;
  const seen = { stage: 'visible', visibleAt: first.at, pushed: first.pushed } as const;
  updateTrace(trace.key, seen);
  tell({ ...trace, ...seen });
}
