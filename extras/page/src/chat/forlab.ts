// The failure lab is a script of its own, in the program that has a lab. This is what it and the page know of each other.
// Beside this the lab uses the page's copy of the packages, which main.tsx exports.
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { ask } from '../api.ts';
import type { Faults } from '../requests.ts';

/** What the lab may use of the page. */
export interface PageForLab {
  ready: () => boolean; // a thread is open
  pane: () => { viewer: { id: string; name: string }; selected: string; version: number } | undefined;
  post: (text: string) => Promise<number>; // the version, once it is known
  ask: typeof ask;
  withToken: boolean;
}

export interface Lab {
  View: ComponentType;
  Banner: ComponentType; // what is broken now, with a button that mends it
  faults: Signal<Faults | null>; // null: not known yet
  set: (change: Partial<Faults>) => Promise<void>;
}

export const lab = signal<Lab | null>(null); // null: this program has none
