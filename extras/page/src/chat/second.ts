// The second set of tables, which a rebuild fills beside the one that is read. The failure lab tells which rows it has.
import { signal } from '@preact/signals';
import { lab } from './forlab.ts';
import type { NewRows } from './forlab.ts';
import type { Pane } from './panes.ts';

export const second = signal<NewRows | null>(null); // null: there is none, or nobody looks
export const switched = signal(''); // the thread and its version when the second set became the one that is read

export const versionOf = ({ id, version }: { id: string; version: number }): string => `${id}:${version}`;

/** Looks at the second set's rows of a pane's thread. */
export async function look(pane: Pane): Promise<void> {
  const found = await lab.peek()?.newRows(pane.selected.peek());
  if (!found) return;
  const thread = pane.thread.peek();
  if (second.peek() && !found.made && thread) switched.value = versionOf(thread);
  second.value = found.made ? found : null;
}
