// The list of a thread's messages, and the field to write one. What a message is, message.tsx says.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { day, dayOf, Problem, submitOnEnter } from '../common.tsx';
import type { Field } from '../common.tsx';
import type { ShownMessage } from '../queries.ts';
import * as act from './actions.ts';
import { Message, post, Unwritten } from './message.tsx';
import * as out from './outbox.ts';
import type { Pane } from './panes.ts';
import { markRead } from './unread.ts';

export function Messages({ pane, composer }: { pane: Pane; composer: Field }) {
  const messages = pane.messages;
  const entries = out.outbox.value.filter((entry) => entry.person === pane.id && entry.fields.thread_id === pane.selected.value);
  const posts = entries.filter((entry) => entry.path === out.post && !messages.some((message) => message.id === entry.message) && (out.versionOf(entry) ?? Infinity) > (pane.thread.value?.version ?? 0) && !out.isPushed(entry, messages));
  const { list, toEnd, unseen } = useScroll(pane, messages, posts.length);
  return (
    <div class="scroll">
      <ol class="messages" aria-label="Messages" aria-live="polite" tabIndex={0} ref={list}>
        {pane.more.value && (
          <li class="earlier">
            <button class="plain" onClick={() => void act.loadEarlier(pane)}>
              Earlier messages
            </button>
            <Problem of={pane} field="earlier" />
          </li>
        )}
        {messages.length + posts.length === 0 && <li class="quiet">Nobody has said anything yet.</li>}
        {messages.map((message, at) => {
          const before = messages[at - 1];
          return [
            (!before || dayOf(before.createdAt) !== dayOf(message.createdAt)) && (
              <li key={`day ${message.id}`} class="day">
                <span>{day(message.createdAt)}</span>
              </li>
            ),
            <Message key={message.id} pane={pane} message={message} entry={entries.find((entry) => entry.fields.message_id === message.id)} composer={composer} />,
          ];
        })}
        {posts.map((entry) => (
          <Unwritten key={entry.key} pane={pane} entry={entry} composer={composer} />
        ))}
      </ol>
      {unseen.value > 0 && (
        <button class="pill primary" onClick={toEnd}>
          {unseen.value === 1 ? 'One new message' : `${unseen.value} new messages`} ↓
        </button>
      )}
    </div>
  );
}

const near = 40; // pixels

/** Keeps a list at its end while it grows, and where it is if somebody has scrolled up; then it counts what is new. */
function useScroll(pane: Pane, messages: ShownMessage[], posts: number): { list: RefObject<HTMLOListElement | null>; toEnd: () => void; unseen: Signal<number> } {
  const list = useRef<HTMLOListElement>(null);
  const unseen = useSignal(0);
  const was = useRef({ atEnd: true, top: 0, height: 0, room: 0, first: '', posts: 0, last: '' });
  const toEnd = (): void => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  };
  const isAbove = (element: HTMLElement): boolean =>
    element.scrollTop + element.clientHeight < element.scrollHeight - near && element.scrollTop < was.current.top - near;
  const latest = useRef(messages);
  latest.current = messages;
  const read = (): void => {
    unseen.value = 0;
    was.current.last = latest.current.at(-1)?.id ?? '';
    if (list.current?.offsetParent) markRead(pane, latest.current.at(-1));
  };
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const { height, first } = was.current;
    if (isAbove(element)) was.current.atEnd = false; // scrolled up, which is told in the next frame
    if (posts > was.current.posts) was.current.atEnd = true; // who writes wants to see it
    if (was.current.atEnd) {
      toEnd();
      read();
      act.forgetEarlier(pane);
    } else {
      if (messages[0]?.id !== first && element.scrollTop < height) element.scrollTop += element.scrollHeight - height; // earlier ones are above
      unseen.value = messages.filter((message) => message.id > was.current.last && message.userAccountId !== pane.id).length; // ids are in the order of posting
    }
    Object.assign(was.current, { top: element.scrollTop, height: element.scrollHeight, room: element.clientHeight, first: messages[0]?.id ?? '', posts });
  }, [messages.length, messages[0]?.id, messages.at(-1)?.id, posts, pane.thread.value]);
  // With the messages, and not after the next frame as an effect: somebody may scroll at once.
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const scrolled = (): void => {
      // Nobody has scrolled: what is beside the list has grown, which is told next.
      if (element.clientHeight !== was.current.room && !isAbove(element)) return;
      was.current.atEnd = element.scrollTop + element.clientHeight > element.scrollHeight - near;
      was.current.top = element.scrollTop;
      if (was.current.atEnd) read();
      if (element.scrollTop < 200 && element.scrollHeight > element.clientHeight) void act.loadEarlier(pane);
    };
    const resized = new ResizeObserver(() => {
      was.current.room = element.clientHeight;
      if (was.current.atEnd && !isAbove(element)) toEnd();
    });
    element.addEventListener('scroll', scrolled, { passive: true });
    document.addEventListener('visibilitychange', scrolled);
    resized.observe(element);
    return () => {
      document.removeEventListener('visibilitychange', scrolled);
      resized.disconnect();
    };
  }, []);
  return { list, toEnd, unseen };
}

export function Composer({ pane, at, field }: { pane: Pane; at: number; field: Field }) {
  const draft = pane.draft;
  const submit = (event: Event): void => {
    event.preventDefault();
    post(pane);
    field.current?.focus();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <label>
        <span class="hidden">Message from {pane.viewer.name}</span>
        <textarea
          rows={1}
          dir="auto"
          ref={field}
          placeholder={`Message as ${pane.viewer.name}`}
          value={draft.value}
          aria-describedby={`draft-${at}`}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'ArrowUp' && !draft.peek() && editLast(pane, event)}
          onKeyPress={submitOnEnter}
        />
      </label>
      <button class="primary">Send</button>
      <Problem of={pane} field="draft" id={`draft-${at}`} />
    </form>
  );
}

/** Edits the person's last message, unless it is being changed, or another one is edited. */
function editLast(pane: Pane, event: Event): void {
  const own = pane.messages.findLast((message) => message.userAccountId === pane.id);
  if (!own || pane.editing.peek() || out.outbox.peek().some((entry) => entry.person === pane.id && entry.fields.message_id === own.id)) return;
  event.preventDefault();
  pane.editing.value = { id: own.id, text: own.text };
}
