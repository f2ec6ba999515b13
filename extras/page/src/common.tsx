// Small things that several parts of the page show.
import type { ComponentChildren, RefObject } from 'preact';
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });

export const time = (text: string): string => clock.format(new Date(text));

const exactly = new Intl.DateTimeFormat([], {
  year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});

/** A time to the millisecond. */
export const moment = (text: string): string => (text ? exactly.format(new Date(text)) : '');

/** The beginning of a day, in local time. */
export const dayOf = (text: string): number => new Date(text).setHours(0, 0, 0, 0);

const shortly = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'short' });

/** A time, with its day unless that is today. */
export const when = (text: string): string => (dayOf(text) === new Date().setHours(0, 0, 0, 0) ? time(text) : shortly.format(new Date(text)));

/** A day in words. */
export function day(text: string): string {
  const ago = Math.round((new Date().setHours(0, 0, 0, 0) - dayOf(text)) / 86_400_000);
  if (ago === 0) return 'Today';
  if (ago === 1) return 'Yesterday';
  return new Date(text).toLocaleDateString([], { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' });
}

/** A word as a title has it. */
export const titled = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** A colour of each person's own. */
export function hue(id: string): Record<string, string> {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) % 360;
  return { '--hue': String(sum) };
}

export function Problem({ of, field, id }: { of: { problems: Signal<Record<string, string>> }; field: string; id?: string }) {
  const text = of.problems.value[field];
  return (
    <span class={text ? 'problem' : 'hidden'} id={id} role="alert">
      {text}
    </span>
  );
}

/** The value of a form's field, and the form. */
export function typed(event: Event, name: string): [string, HTMLFormElement] {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  return [(form.elements.namedItem(name) as HTMLInputElement).value, form];
}

export type Field = RefObject<HTMLTextAreaElement | null>;

/** Sends a form's text on Enter; Shift and Enter begin a line. */
export function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.target as HTMLTextAreaElement).form?.requestSubmit();
}

interface Question {
  text: ComponentChildren;
  yes: string;
  answer: (sure: boolean) => void;
}

const question = signal<Question | null>(null);

/** Asks before something that can't be undone. */
export const sure = (text: string, yes: string): Promise<boolean> =>
  new Promise((answer) => {
    question.value = { text, yes, answer };
  });

/** The question that is being asked. The browser keeps the focus in it, and gives it back afterwards. */
export function Sure() {
  const dialog = useRef<HTMLDialogElement>(null);
  const asked = question.value;
  useEffect(() => {
    if (asked && !dialog.current?.open) dialog.current?.showModal();
  }, [asked]);
  const answer = (yes: boolean): void => {
    dialog.current?.close();
    question.value = null;
    asked?.answer(yes);
  };
  return (
    <dialog ref={dialog} onCancel={() => answer(false)} aria-labelledby="question">
      <p id="question" dir="auto">
        {asked?.text}
      </p>
      <div class="row">
        <button onClick={() => answer(false)}>Cancel</button>
        <button class="danger" onClick={() => answer(true)}>
          {asked?.yes}
        </button>
      </div>
    </dialog>
  );
}

/** Copies a text, and returns what to say. */
export const copied = (text: string, said: string): Promise<string> =>
  Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => said, () => 'The browser does not let this page copy.');
