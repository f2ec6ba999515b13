// The failure lab is a script of its own, in the program that has a lab. This is what it and the page know of each other.
// Beside this the lab uses the page's copy of the packages, which main.tsx exports.
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { ask } from '../api.ts';
import type { Rebuilt } from '../rebuild.ts';
import type { Rebuild } from '../requests.ts';

/** What the lab may use of the page. */
export interface PageForLab {
  ready: () => boolean; // a thread is open
  pane: () => { viewer: { id: string; name: string }; selected: string; version: number } | undefined;
  post: (text: string) => Promise<number>; // the version, once it is known
  waiting: () => number; // the last event of the open thread that this page has written and not seen; 0: none
  attempts: () => number; // how often the last command was sent
  rebuild: (meanwhile: (now: Rebuild | undefined, second: NewRows | null) => Promise<void> | void) => Promise<Rebuilt>; // while the map shows both sets
  ask: typeof ask;
  withToken: boolean;
}

// The page can be without a lab: these types are not among the generated ones.

/** What the page looks at, and sets. The lab has more faults. */
export interface Faults {
  paused: boolean;
  dead: boolean; // the projection is killed
  delivery: string;
  hold_ms: number;
  replay_ms: number; // a rebuild waits so long after each part
  replay_events: number; // in a part
}

/** A thread's rows in the tables that a rebuild fills beside the live ones. */
export interface NewRows {
  made: boolean; // there are such tables
  version: number;
  members: string[];
  messages: string[]; // the last ones
  count: number; // of all messages
}

export interface Lab {
  View: ComponentType;
  // What is broken now, with a button that mends it; lost: an event whose record never came, 0: none; find: has it found.
  Banner: ComponentType<{ lost: number; find: () => void }>;
  faults: ReadonlySignal<Faults | null>; // null: not known yet
  set: (change: Partial<Faults>) => Promise<void>;
  newRows: (thread: string) => Promise<NewRows>;
}

/** Why the projection stands still; '': it does not. */
export const stopped = ({ faults }: Lab): string => (faults.value?.dead ? 'killed' : faults.value?.paused ? 'paused' : '');

export const lab = signal<Lab | null>(null); // null: this program has none
