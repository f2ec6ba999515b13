// Slow motion: a command's way is drawn again, ten or a hundred times slower than it was, by the times that this page has
// measured. With a brake it is slow for real: the projection holds each batch. What a new visitor sends first can go
// slowly.
import { signal } from '@preact/signals';
import { keep, state } from './state.ts';
import type { Trace } from './state.ts';

export const speeds = [1, 10, 100];
export const slowness = signal(1);
export const firstShown = signal(''); // the key of what was sent first, and shown slowly, until something else is sent

/** What holds each batch of the projection. */
export interface Brake {
  ms: () => number; // for how long, now
  stopped: () => string; // why it stands still; '': it does not
  hold: (ms: number) => Promise<void>;
}

export const brake = signal<Brake | null>(null); // null: there is none

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

/** Sets how slowly commands are drawn and, with a brake, how long the projection holds a batch. */
export async function setSpeed(speed: number): Promise<void> {
  slowness.value = speed;
  firstShown.value = '';
  clearInterval(renewing);
  await hold(speed);
  if (speed === 1 || speed !== slowness.peek() || !brake.peek()) return; // or another one was pressed meanwhile
  clearInterval(renewing);
  renewing = setInterval(() => renew(speed), renewal);
}

/** Asks again for the hold, unless somebody has mended it. */
function renew(speed: number): void {
  const wasHidden = hidden;
  hidden = document.hidden;
  if (hidden || wasHidden) return; // who looks again learns first whether it has been mended
  if (brake.peek()?.ms()) return void hold(speed).catch(() => undefined);
  clearInterval(renewing);
  slowness.value = 1;
}

const renewal = 3000; // milliseconds: the brake ends the hold some seconds after the last request
let renewing = 0;
let hidden = false; // when it was to be asked last

let wanted = 1;
let holding: Promise<void> | null = null;

/** Holds as long as was asked last: one request after the other. */
function hold(speed: number): Promise<void> {
  wanted = speed;
  holding ??= holdWanted().finally(() => (holding = null));
  return holding;
}

async function holdWanted(): Promise<void> {
  for (let asked = 0; asked !== wanted; ) {
    asked = wanted;
    await brake.peek()?.hold(asked === 1 ? 0 : usual * asked);
  }
}

const kept = 'threads.visited';
let visited = localStorage.getItem(kept) !== null;
let first = ''; // the key of what is sent first, while it is on its way

/** Slows down for what a new visitor sends first, unless they want no motion. */
export async function beforeFirst(key: string): Promise<void> {
  if (visited) return;
  visited = true;
  keep(kept, 'yes');
  if (slowness.peek() !== 1 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  first = key;
  await setSpeed(100).catch(() => undefined); // then it is only drawn slowly
}

/** Goes on at full speed once it was seen, or rejected. */
export function afterFirst(key: string, seen: boolean): void {
  if (key !== first) return;
  first = '';
  void setSpeed(1).catch(() => undefined).then(() => (firstShown.value = seen ? key : '')); // if the brake can't be let go, it ends by itself
}

/** Draws a command's way slowly, if slow motion is on. */
export function play(trace: Trace): void {
  const { key, sentAt, writtenAt = 0, visibleAt = 0 } = trace;
  if (firstShown.peek() !== key) firstShown.value = '';
  const written = (Math.min(writtenAt, visibleAt) - sentAt) * slowness.peek();
  const whole = Math.max(0, visibleAt - sentAt) * slowness.peek(); // a command sent again was seen before
  const latest = state.trace.peek() === key || (!state.trace.peek() && state.traces.peek()[0]?.key === key);
  if (slowness.peek() === 1 || brake.peek()?.ms() || whole > longest || !latest) return afterFirst(key, true);
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
