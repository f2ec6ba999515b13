// How the programs are, read from /status.
import { signal } from '@preact/signals';
import { ask } from './api.ts';
import { state, updateTrace } from './state.ts';
import type { Sample } from './state.ts';
import type { ProgramStatus } from './requests.ts';

/** The figures of the last minute. */
const counts = signal<Array<{ at: number; programs: ProgramStatus[] }>>([]);

const recent = 10_000; // milliseconds that rates and quantiles are of

const figuresOf = (at: { programs: ProgramStatus[] } | undefined, program: string): Record<string, number> =>
  at?.programs.find((each) => each.name === program)?.figures ?? {};

/** The figures of a program now, and some seconds ago; a program that was started since has counted from 0. */
function both(program: string): { now: Record<string, number>; before: Record<string, number>; seconds: number } {
  const last = counts.value.at(-1);
  const first = counts.value.find((each) => last && last.at - each.at <= recent);
  const [now, before] = [figuresOf(last, program), figuresOf(first, program)];
  const same = now.process_start_time_seconds === before.process_start_time_seconds;
  return { now, before: same ? before : {}, seconds: last && first && same ? (last.at - first.at) / 1000 : 0 };
}

/** How a program is, as it was read last. */
export const programOf = (name: string): ProgramStatus | undefined => state.status.value.find((each) => each.name === name);

/** How many a second. */
export function rate(program: string, ...names: string[]): number {
  const { now, before, seconds } = both(program);
  const grown = names.reduce((sum, name) => sum + (now[name] ?? 0) - (before[name] ?? 0), 0);
  return seconds > 0 ? grown / seconds : 0;
}

/** A quantile of a histogram, in milliseconds: the bound of the bucket that it is in; undefined: nothing was counted. */
export function quantile(program: string, name: string, part: number): number | undefined {
  const { now, before } = both(program);
  const prefix = `${name}_bucket:`;
  const buckets = Object.keys(now)
    .filter((key) => key.startsWith(prefix))
    .map((key): [number, number] => [key.endsWith('+Inf') ? Infinity : Number(key.slice(prefix.length)), (now[key] ?? 0) - (before[key] ?? 0)])
    .sort(([a], [b]) => a - b);
  const all = buckets.at(-1)?.[1] ?? 0;
  const found = all > 0 ? buckets.find(([, count]) => count >= all * part) : undefined;
  return found && found[0] * 1000;
}

/** The stream is read to its end. */
export const isAtEnd = (sample: Sample | undefined): boolean => sample?.records === 0 && !sample.atLeast;

/** At this time the stream was read to its end, and nothing was parked: the records of earlier events never came. */
function markLost(at: number): void {
  for (const { key, stage, lost, writtenAt = at } of state.traces.peek()) if (stage === 'written' && !lost && at - writtenAt > 1000) updateTrace(key, { lost: true });
}

export async function readStatus(): Promise<void> {
  try {
    const answer = await ask('GET /status');
    const at = performance.now();
    state.status.value = answer.programs;
    counts.value = [...counts.peek().filter((each) => at - each.at < 60_000), { at, programs: answer.programs }];
    const { up, health, figures = {} } = programOf('read-model-updater') ?? {};
    if (!up || health?.behind_records === undefined) return; // how far it is is not known
    const sample: Sample = {
      at, lag: (health.behind_seconds ?? 0) * 1000, records: health.behind_records, atLeast: health.behind_at_least ?? false,
      duplicates: figures.projection_duplicates_total ?? 0, filled: figures.projection_events_filled_total ?? 0,
    };
    state.samples.value = [...state.samples.peek().filter((each) => sample.at - each.at < 60_000), sample];
    // While this page's own connection is lost, it is not told what is in the rows.
    if (state.live.peek() === 'connected' && isAtEnd(sample) && health.active && health.parked_aggregates === 0) markLost(sample.at);
  } catch {
    state.status.value = state.status.peek().map((program) => ({ ...program, up: false }));
  }
}
