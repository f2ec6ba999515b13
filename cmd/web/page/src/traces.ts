// When a command's effect was first seen. The push of a version can come before the answer of its command.
import { change, state } from './state.ts';
import type { Trace } from './state.ts';

interface Arrival {
  version: number;
  at: number;
  pushed: unknown;
}

const arrivals = new Map<string, Arrival[]>(); // by aggregate, the first first

/** Notes that a version of an aggregate can be read. It returns the commands that are seen with it. */
export function arrived(aggregate: string, version: number, pushed: unknown): Trace[] {
  const known = arrivals.get(aggregate) ?? [];
  arrivals.set(aggregate, [...known, { version, at: performance.now(), pushed }].slice(-50));
  return state.traces.filter(settle);
}

/** Makes a command that is written a visible one, if it is; true where it has become so. */
export function settle(trace: Trace): boolean {
  if (trace.stage !== 'written') return false;
  const version = trace.version ?? 0;
  const first = arrivals.get(trace.aggregate ?? '')?.find((each) => each.version >= version);
  if (!first) return false;
  change(() => Object.assign(trace, { stage: 'visible', visibleAt: first.at, pushed: first.pushed }));
  return true;
}
