// Slow motion: a command's way is drawn again, ten or a hundred times slower than it was, by the times that this page has
// measured. With a failure lab it is slow for real: the projection holds each batch. The first message of a new visitor
// goes slowly.
import { signal } from '@preact/signals';
import { lab } from './forlab.ts';
import { state } from './state.ts';
import type { Trace } from './state.ts';

export const speeds = [1, 10, 100];
export const slowness = signal(1);
export const firstShown = signal(false); // the first message has just been shown slowly

const longest = 20_000; // milliseconds that a replay may take
const usual = 30; // milliseconds from the answer to the rows, roughly, when nothing is slow

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

/** Sets how slowly commands are drawn and, with a lab, how long the projection holds a batch. */
export async function setSpeed(speed: number): Promise<void> {
  slowness.value = speed;
  firstShown.value = false;
  clearInterval(renewing);
  await hold(speed);
  if (speed !== 1 && lab.peek()) renewing = setInterval(() => renew(speed), renewal);
}

/** Asks again for the hold, unless somebody has mended it. */
function renew(speed: number): void {
  if (lab.peek()?.faults.peek()?.hold_ms) return void hold(speed).catch(() => undefined);
  clearInterval(renewing);
  slowness.value = 1;
}

const renewal = 3000; // milliseconds: the lab ends the hold some seconds after the last request
let renewing = 0;

const hold = async (speed: number): Promise<void> => lab.peek()?.set({ hold_ms: speed === 1 ? 0 : usual * speed });

const visited = 'threads.visited';
let first = ''; // the key of the first message while it is on its way

/** Slows down for the first message of a new visitor, unless they want no motion, or something is broken already. */
export async function beforeFirst(key: string): Promise<void> {
  const faults = lab.peek()?.faults.peek();
  if (localStorage.getItem(visited) || Object.values(faults ?? {}).some(Boolean)) return;
  localStorage.setItem(visited, 'yes');
  if (slowness.peek() !== 1 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  first = key;
  await setSpeed(100).catch(() => undefined); // then it is only drawn slowly
}

/** Goes on at full speed once the first message was seen, or refused. */
export function afterFirst(key: string, seen: boolean): void {
  if (key !== first) return;
  first = '';
  void setSpeed(1).catch(() => undefined).then(() => (firstShown.value = seen)); // the lab's banner says what is left
}

/** Draws a command's way slowly, if slow motion is on. */
export function play(trace: Trace): void {
  const { key, sentAt, answeredAt = 0, visibleAt = 0 } = trace;
  const written = (Math.min(answeredAt, visibleAt) - sentAt) * slowness.peek();
  const whole = Math.max(0, visibleAt - sentAt) * slowness.peek(); // a command sent again was seen before
  const latest = state.trace.peek() === key || (!state.trace.peek() && state.traces.peek()[0]?.key === key);
  if (slowness.peek() === 1 || lab.peek()?.faults.peek()?.hold_ms || whole > longest || !latest) return afterFirst(key, true);
  const mine = ++playing;
  const show = (stage: Trace['stage']): void => {
    if (mine === playing) replay.value = { key, stage, written, whole };
  };
  show('sent');
  setTimeout(() => show('written'), written);
  setTimeout(() => show('visible'), whole);
  setTimeout(() => {
    if (mine === playing) replay.value = null;
    afterFirst(key, true);
  }, whole + 1500);
}
