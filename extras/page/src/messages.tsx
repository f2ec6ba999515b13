// The messages of a thread, and the field to write one.
import { useComputed, useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import * as act from './actions.ts';
import { day, dayOf, hue, Problem, sure, time } from './common.tsx';
import { drop, outbox, post } from './outbox.ts';
import type { Entry } from './outbox.ts';
import { nameOf } from './state.ts';
import type { Pane, ShownMessage } from './state.ts';
import { markRead } from './unread.ts';

type Field = RefObject<HTMLTextAreaElement | null>;

export function Messages({ pane, composer }: { pane: Pane; composer: Field }) {
  const messages = pane.messages;
  const entries = outbox.value.filter((entry) => entry.person === pane.id && entry.fields.thread_id === pane.selected.value);
  const posts = entries.filter((entry) => entry.path === post && !messages.some((message) => message.id === entry.message));
  const { list, toEnd, unseen } = useScroll(pane, messages, posts.length);
  return (
    <div class="scroll">
      <ol class="messages" aria-label="Messages" aria-live="polite" tabIndex={0} ref={list}>
        {pane.more.value && (
          <li class="earlier">
            <button class="plain" onClick={() => void act.loadEarlier(pane)}>
              Earlier messages
            </button>
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
  const was = useRef({ atEnd: true, height: 0, first: '', posts: 0, last: '' });
  const toEnd = (): void => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  };
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
    if (posts > was.current.posts) was.current.atEnd = true; // who writes wants to see it
    if (was.current.atEnd) {
      toEnd();
      read();
    } else {
      if (messages[0]?.id !== first && element.scrollTop < height) element.scrollTop += element.scrollHeight - height; // earlier ones are above
      const seen = messages.findIndex((message) => message.id === was.current.last);
      unseen.value = messages.slice(seen + 1).filter((message) => message.userAccountId !== pane.id).length;
    }
    Object.assign(was.current, { height: element.scrollHeight, first: messages[0]?.id ?? '', posts });
  }, [messages.length, messages[0]?.id, messages.at(-1)?.id, posts, pane.thread.value]);
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const scrolled = (): void => {
      was.current.atEnd = element.scrollTop + element.clientHeight > element.scrollHeight - near;
      if (was.current.atEnd) read();
      if (element.scrollTop < 200 && element.scrollHeight > element.clientHeight) void act.loadEarlier(pane);
    };
    const resized = new ResizeObserver(() => was.current.atEnd && toEnd());
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

/** Grey says: not in the read model yet. Why, it says in words. */
const progress = (entry: Entry): string => (entry.state === 'waiting' ? 'sending …' : `written as event ${entry.version}, not in the read model yet`);

function Unwritten({ pane, entry, composer }: { pane: Pane; entry: Entry; composer: Field }) {
  const mend = (): void => {
    act.mend(pane, entry);
    composer.current?.focus();
  };
  return (
    <li class="message own pending">
      <p dir="auto">{String(entry.fields.text).trim()}</p>
      {entry.state === 'refused' ? (
        <>
          <span class="problem">Refused: {entry.reason}</span>
          <span class="row">
            <button class="plain" onClick={mend}>
              Mend it
            </button>
            <button class="plain" onClick={() => (drop(entry), composer.current?.focus())}>
              Discard it
            </button>
          </span>
        </>
      ) : (
        <small>{progress(entry)}</small>
      )}
    </li>
  );
}

function Message({ pane, message, entry, composer }: { pane: Pane; message: ShownMessage; entry: Entry | undefined; composer: Field }) {
  const editing = useComputed(() => pane.editing.value?.id === message.id);
  const admin = useComputed(() => pane.admin);
  const own = message.userAccountId === pane.id;
  const deletion = entry?.path === '/threads/delete_message';
  const text = entry && !deletion ? String(entry.fields.text).trim() : message.text;
  if (editing.value) return <Edit pane={pane} id={message.id} composer={composer} />;
  const remove = async (): Promise<void> => {
    if (!(await sure(`Delete "${text}" for everybody? It can't be undone.`, 'Delete the message'))) return;
    composer.current?.focus(); // the button vanishes
    void act.deleteMessage(pane, message.id);
  };
  return (
    <li class={`message ${own ? 'own' : ''} ${entry ? 'pending' : ''} ${deletion ? 'deleted' : ''}`}>
      {!own && (
        <strong style={hue(message.userAccountId)} class="sender" dir="auto">
          {nameOf(message.sender?.name, message.userAccountId)}
        </strong>
      )}
      <p dir="auto">{text}</p>
      <small>
        {entry ? `${deletion ? 'deletion' : 'edit'} ${progress(entry)}` : time(message.createdAt)}
        {!entry && message.updatedAt !== message.createdAt && ' · edited'}
      </small>
      {!entry && (own || admin.value) && (
        <span class="tools">
          {own && (
            <button class="plain" aria-label={`Edit "${text}"`} onClick={() => (pane.editing.value = { id: message.id, text })}>
              Edit
            </button>
          )}
          <button class="plain" aria-label={`Delete "${text}"`} onClick={remove}>
            Delete
          </button>
        </span>
      )}
    </li>
  );
}

function Edit({ pane, id, composer }: { pane: Pane; id: string; composer: Field }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const close = (): void => {
    pane.editing.value = null;
    pane.problem('edit', '');
    composer.current?.focus();
  };
  const save = (event: Event): void => {
    event.preventDefault();
    void act.saveEdit(pane);
    composer.current?.focus();
  };
  return (
    <li class="message own">
      <form onSubmit={save} onKeyDown={(event) => event.key === 'Escape' && close()}>
        <label>
          <span class="hidden">New text</span>
          <textarea
            rows={2}
            dir="auto"
            ref={field}
            value={pane.editing.value?.text}
            aria-describedby={`edit-${id}`}
            onInput={(event) => (pane.editing.value = { id, text: event.currentTarget.value })}
            onKeyPress={submitOnEnter}
          />
        </label>
        <Problem of={pane} field="edit" id={`edit-${id}`} />
        <span class="row">
          <button>Save</button>
          <button type="button" class="plain" onClick={close}>
            Cancel
          </button>
        </span>
      </form>
    </li>
  );
}

export function Composer({ pane, at, field }: { pane: Pane; at: number; field: Field }) {
  const draft = pane.draft;
  const submit = (event: Event): void => {
    event.preventDefault();
    act.post(pane);
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

/** Edits the person's last message. */
function editLast(pane: Pane, event: Event): void {
  const own = pane.messages.findLast((message) => message.userAccountId === pane.id);
  if (!own) return;
  event.preventDefault();
  pane.editing.value = { id: own.id, text: own.text };
}

function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.target as HTMLTextAreaElement).form?.requestSubmit();
}
