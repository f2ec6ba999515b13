// How the programs are, read from /status.
import { state } from './state.ts';
import type { ProgramStatus } from './state.ts';

export async function readStatus(): Promise<void> {
  try {
    const answer = (await (await fetch('/status')).json()) as { programs: ProgramStatus[] };
    const updater = answer.programs.find((program) => program.name === 'read-model-updater');
    const sample = {
      at: performance.now(), lag: (updater?.health?.behind_seconds ?? 0) * 1000, records: updater?.health?.behind_records ?? 0,
      duplicates: updater?.figures.projection_duplicates_total ?? 0, filled: updater?.figures.projection_events_filled_total ?? 0,
    };
    state.status.value = answer.programs;
    state.samples.value = [...state.samples.peek().filter((each) => sample.at - each.at < 60_000), sample];
  } catch {
    state.status.value = state.status.peek().map((program) => ({ ...program, up: false }));
  }
}
