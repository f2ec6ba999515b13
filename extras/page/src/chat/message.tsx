// A message: what is read of it, what can be done with it, and how it is shown. Another field of messages, or another
// command on them, is added here.
import { useComputed } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { command, inWords } from '../api.ts';
import type { Outcome } from '../api.ts';
import { hue, Problem, submitOnEnter, sure, time } from '../common.tsx';
import type { Field } from '../common.tsx';
import type { ShownMessage } from '../queries.ts';
import type { MessageAnswer } from '../requests.ts';
import { nameOf } from '../state.ts';
import * as out from './outbox.ts';
import type { Pane } from './panes.ts';

/* GraphQL:
fragment ShownMessage on Message { id userAccountId text createdAt updatedAt sender { name } }
*/

/** Posts a text past the outbox, at the same time as others; it is shown once it is in the read model. */
export const postText = (pane: Pane, text: string): Promise<Outcome<MessageAnswer>> => command(out.post, pane.viewer, { ...pane.onThread, text });

/** Posts what has been written. It is shown at once, and so is a rejection. */
export function post(pane: Pane): void {
  const text = pane.draft.peek();
  if (!text.trim()) return;
  pane.problem('draft', '');
  void out.order(pane.id, out.post, { ...pane.onThread, text });
  pane.draft.value = '';
}

/** Puts a rejected text back into the field. */
function putBack(pane: Pane, entry: out.Entry): void {
  pane.putBack(entry.fields.thread_id, entry.fields.text);
  out.drop(entry);
}

const edit = '/threads/edit_message';
const deletion = '/threads/delete_message';

/** What is under way, in words. */
const changes: Record<string, string> = { [edit]: 'edit', [deletion]: 'deletion' };

async function saveEdit(pane: Pane): Promise<void> {
  const editing = pane.editing.peek();
  if (!editing) return;
  const { onThread } = pane; // whatever is opened meanwhile
  pane.editing.value = null;
  pane.problem('draft', '');
  const outcome = await out.orderFrom(pane, 'edit', edit, { ...onThread, message_id: editing.id, text: editing.text });
  if (outcome.ok) return;
  if (!pane.editing.peek() && pane.messages.some((message) => message.id === editing.id)) {
    pane.editing.value = editing; // to be mended
    return;
  }
  pane.problem('edit', '');
  out.refuse(pane, 'draft', onThread, `Rejected: edit: ${inWords(outcome.problem)}`);
  pane.putBack(onThread.thread_id, editing.text);
}

const deleteMessage = (pane: Pane, id: string): Promise<Outcome> => out.orderFrom(pane, 'draft', deletion, { ...pane.onThread, message_id: id });

/** Grey says: not in the rows yet. Why, it says in words. */
const progress = (entry: out.Entry): string => (out.versionOf(entry) ? `written as event ${out.versionOf(entry)}, not in the rows yet` : 'sending …');

export function Unwritten({ pane, entry, composer }: { pane: Pane; entry: out.Entry; composer: Field }) {
  const thread = String(entry.fields.thread_id);
  const mend = (): void => {
    putBack(pane, entry);
    composer.current?.focus();
  };
  const discard = async (): Promise<void> => {
    if (!(await sure(`Discard "${String(entry.fields.text).trim()}"? It can't be undone.`, 'Discard the message'))) return;
    composer.current?.focus(); // the button vanishes
    out.drop(entry);
  };
  return (
    <li class="message own pending">
      <p dir="auto">{String(entry.fields.text).trim()}</p>
      {entry.state === 'rejected' ? (
        <>
          <span class="problem">
            Rejected{thread !== pane.selected.value && ` in ${pane.threadName(thread)}`}: {entry.reason}
          </span>
          <span class="row">
            {thread === pane.thread.value?.id && (
              <button class="plain" onClick={mend}>
                Mend it
              </button>
            )}
            <button class="plain" onClick={discard}>
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

export function Message({ pane, message, entry, composer }: { pane: Pane; message: ShownMessage; entry: out.Entry | undefined; composer: Field }) {
  const editing = useComputed(() => pane.editing.value?.id === message.id);
  const admin = useComputed(() => pane.admin);
  const own = message.userAccountId === pane.id;
  const deleting = entry?.path === deletion;
  const text = String(entry?.fields.text ?? message.text).trim();
  if (editing.value) return <Edit pane={pane} id={message.id} composer={composer} />;
  const remove = async (): Promise<void> => {
    if (!(await sure(`Delete "${text}" for everybody? It can't be undone. The journal keeps what was said: Admins see it in the history.`, 'Delete the message'))) return;
    composer.current?.focus(); // the button vanishes
    void deleteMessage(pane, message.id);
  };
  return (
    <li class={`message ${own ? 'own' : ''} ${entry ? 'pending' : ''} ${deleting ? 'deleted' : ''}`}>
      {!own && (
        <strong style={hue(message.userAccountId)} class="sender" dir="auto">
          {nameOf(message.sender?.name, message.userAccountId)}
        </strong>
      )}
      <p dir="auto">{text}</p>
      <small>
        {entry ? `${changes[entry.path]} ${progress(entry)}` : time(message.createdAt)}
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
    void saveEdit(pane);
    composer.current?.focus();
  };
  return (
    <li class="message own">
      <form onSubmit={save} onKeyDown={(event) => event.key === 'Escape' && !event.isComposing && close()}>
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
