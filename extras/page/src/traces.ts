// When a command's effect was first seen. The push of a version can come before the answer of its command.
import { change, state } from './state.ts';
import type { Trace } from './state.ts';

interface Arrival {
  version: number;
  at: number;
  pushed: unknown;
}

const arrivals = new Map<string, Arrival[]>(); // by aggregate, the first first

let tell = (_trace: Trace): void => undefined;

/** Has a function called with every command whose effect is seen. */
export function onSettled(teller: (trace: Trace) => void): void {
  tell = teller;
}

/** Notes that a version of an aggregate can be read. */
export function arrived(aggregate: string, version: number, pushed: unknown): void {
  const known = arrivals.get(aggregate) ?? [];
  arrivals.set(aggregate, [...known, { version, at: performance.now(), pushed }].slice(-50));
  state.traces.forEach(settle);
}

/** Makes a command that is written a visible one, if it is. */
export function settle(trace: Trace): void {
  if (trace.stage !== 'written') return;
  const version = trace.version ?? 0;
  const first = arrivals.get(trace.aggregate ?? '')?.find((each) => each.version >= version);
  if (!first) return;
  change(() => Object.assign(trace, { stage: 'visible', visibleAt: first.at, pushed: first.pushed }));
  tell(trace);
}
