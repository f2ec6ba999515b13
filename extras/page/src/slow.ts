// Slow motion: a command's way is drawn again, ten or a hundred times slower than it was. Its times are those that this
// page has measured; the programs are not slowed down.
import { signal } from '@preact/signals';
import { state } from './state.ts';
import type { Trace } from './state.ts';

export const speeds = [1, 10, 100];
export const slowness = signal(1);

const longest = 20_000; // milliseconds that a replay may take

interface Replay {
  key: string; // of the trace
  stage: Trace['stage'];
  written: number; // milliseconds of the replay until it is written
  whole: number; // until it is seen
}

export const replay = signal<Replay | null>(null);

let playing = 0;

/** How far a command is drawn to have got. */
export const drawnStage = (trace: Trace): Trace['stage'] => (replay.value?.key === trace.key ? replay.value.stage : trace.stage);

/** Draws a command's way slowly, if slow motion is on. */
export function play(trace: Trace): void {
  const { key, sentAt, answeredAt = 0, visibleAt = 0 } = trace;
  const written = (Math.min(answeredAt, visibleAt) - sentAt) * slowness.peek();
  const whole = (visibleAt - sentAt) * slowness.peek();
  const latest = state.trace.peek() === key || (!state.trace.peek() && state.traces.peek()[0]?.key === key);
  if (slowness.peek() === 1 || whole > longest || !latest) return;
  const mine = ++playing;
  const show = (stage: Trace['stage']): void => {
    if (mine === playing) replay.value = { key, stage, written, whole };
  };
  show('sent');
  setTimeout(() => show('written'), written);
  setTimeout(() => show('visible'), whole);
  setTimeout(() => mine === playing && (replay.value = null), whole + 1500);
}
