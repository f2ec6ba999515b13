// What each person sees of the chat, in signals.
import { effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { ListedThread, ShownMember, ShownMessage, ShownThread } from '../queries.ts';
import { keep, personOf } from '../state.ts';
import type { Person } from '../state.ts';

/** What one person sees. */
export class Pane {
  readonly id: string; // of the person
  readonly threads = signal<ListedThread[]>([]);
  readonly listed = signal(50); // how many threads are asked for
  readonly hasMore = signal(false); // there are more threads
  readonly own = signal<ShownMember | null>(null); // this person, where the thread's first members are others
  readonly further = signal<ShownMember[]>([]); // after those of the thread
  readonly manyMembers = signal(false); // there are more
  readonly selected = signal('');
  readonly thread = signal<ShownThread | null>(null);
  readonly gone = signal(''); // why the thread can't be seen any more
  readonly panel = signal<'messages' | 'people'>('messages');
  readonly drafts = new Map<string, Signal<string>>(); // by thread
  readonly editing = signal<{ id: string; text: string } | null>(null);
  readonly older = signal<ShownMessage[]>([]); // before those of the thread
  readonly more = signal<string | null>(null); // the cursor before which there are more
  readonly problems = signal<Record<string, string>>({}); // by field
  readonly unread = signal<Record<string, number>>({}); // by thread
  asking = false; // for the list of threads, as every second
  absent = false; // from the list of threads that was read last
  loading = ''; // the thread whose earlier messages are being read
  stale = false; // one of the earlier messages may have changed
  reading = false; // further members
  wantedMembers = 0; // after the thread's first ones
  pushed: { thread: ShownThread; at: number } | null = null; // not drawn yet
  drawn = 0; // when the thread was drawn last
  unfollow = (): void => undefined;

  constructor(id: string) {
    this.id = id;
  }

  get viewer(): Person {
    return personOf(this.id);
  }

  /** The field of a command that names the open thread. */
  get onThread(): { thread_id: string } {
    return { thread_id: this.selected.peek() };
  }

  /** What is being written to the open thread. */
  get draft(): Signal<string> {
    return this.draftTo(this.selected.value);
  }

  private draftTo(thread: string): Signal<string> {
    const known = this.drafts.get(thread);
    if (known) return known;
    const key = `threads.draft.${this.id}.${thread}`; // it outlives the login after a session has ended
    const draft = signal(sessionStorage.getItem(key) ?? '');
    this.drafts.set(thread, draft);
    effect(() => keep(key, draft.value, sessionStorage));
    return draft;
  }

  /** Puts a text back into what is being written to a thread. */
  putBack(thread: unknown, text: unknown): void {
    const draft = this.draftTo(String(thread));
    draft.value = [text, draft.peek()].filter(Boolean).join('\n');
  }

  threadName(id: string): string {
    return this.threads.value.find((thread) => thread.id === id)?.name ?? `thread …${id.slice(-6)}`;
  }

  get messages(): ShownMessage[] {
    return [...this.older.value, ...(this.thread.value?.messages.edges.map((edge) => edge.node) ?? [])];
  }

  get members(): ShownMember[] {
    const read = [...(this.thread.value?.members.edges.map((edge) => edge.node) ?? []), ...this.further.value];
    const own = this.own.value;
    return own && !read.some((member) => member.id === own.id) ? [own, ...read] : read;
  }

  get admin(): boolean {
    return this.members.some((member) => member.userAccountId === this.id && member.role === 'ADMIN');
  }

  /** Says in words what is wrong with a field; '': nothing is. */
  problem(field: string, text: string): void {
    const known = this.problems.peek();
    if ((known[field] ?? '') !== text) this.problems.value = { ...known, [field]: text };
  }
}

export const panes = signal<Pane[]>([]);
export const front = signal(0); // the pane that a narrow screen shows
export const unnamed = signal(false); // nobody has registered the account that is logged in

export const frontPane = (): Pane | undefined => panes.value[front.value];
