// The chat: what each person sees, in a pane of their own.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { inWords } from '../api.ts';
import { hue, Problem, typed } from '../common.tsx';
import type { Field } from '../common.tsx';
import { state } from '../state.ts';
import * as act from './actions.ts';
import { SmallMap } from './map.tsx';
import { Unwritten } from './message.tsx';
import { Composer, Messages } from './messages.tsx';
import { outbox, waiting } from './outbox.ts';
import { front, panes, unnamed } from './panes.ts';
import type { Pane } from './panes.ts';
import { People } from './people.tsx';

export function Chat() {
  if (!state.ready.value) return <p class="quiet">Connecting to the server …</p>;
  if (panes.value.length === 0) return <Welcome />;
  return (
    <div class="panes">
      {panes.value.length > 1 && (
        <div class="switch" role="group" aria-label="Who is shown">
          {panes.value.map((pane, at) => (
            <button key={at} aria-pressed={front.value === at} onClick={() => (front.value = at)}>
              {pane.viewer.name}
            </button>
          ))}
        </div>
      )}
      <SmallMap />
      {panes.value.map((pane, at) => (
        <PaneView key={at} pane={pane} at={at} />
      ))}
    </div>
  );
}

function Welcome() {
  const begun = useSignal(false);
  return (
    <section class="card welcome">
      <h2>See a message become an event</h2>
      <p>
        Two people chat. Each thing they do is a command, each command becomes an event in a journal, and what they read is made from
        the events a few milliseconds later. This page shows every step of it.
      </p>
      <button class="primary" disabled={begun.value} onClick={() => ((begun.value = true), void act.begin())}>
        Start a chat between Ada and Bob
      </button>
    </section>
  );
}

function PaneView({ pane, at }: { pane: Pane; at: number }) {
  const name = pane.viewer.name;
  const composer = useRef<HTMLTextAreaElement>(null);
  const wait = waiting.value.get(pane.id)?.length ?? 0;
  return (
    <section class={`card pane ${front.value === at ? 'front' : ''}`} aria-label={`What ${name} sees`} tabIndex={-1}>
      <header class="who">
        <span class="avatar" style={hue(pane.id)} aria-hidden="true">
          {[...name][0]}
        </span>
        <Who pane={pane} at={at} />
        <ThreadPicker pane={pane} at={at} />
      </header>
      <NewThread pane={pane} at={at} />
      <Problem of={pane} field="threads" />
      <Problem of={pane} field="account" />
      {unnamed.value && (
        <p class="notice">
          Others see a number instead of your name.{' '}
          <button onClick={() => void act.registerName(pane)}>Register the name {name}</button>
        </p>
      )}
      {wait > 0 && state.live.value === 'lost' && (
        <p class="notice" role="status">
          {wait === 1 ? 'One command waits' : `${wait} commands wait`} for the connection.
        </p>
      )}
      {pane.gone.value && <p class="notice">{pane.gone.value}</p>}
      {!pane.thread.value && <Problem of={pane} field="draft" />}
      <Rejected pane={pane} composer={composer} />
      {pane.thread.value ? (
        <>
          <Title pane={pane} />
          <Problem of={pane} field="name" />
          {pane.panel.value === 'people' && <People pane={pane} at={at} />}
          <Messages key={pane.selected.value} pane={pane} composer={composer} />
          <Composer pane={pane} at={at} field={composer} />
        </>
      ) : pane.selected.value && !pane.gone.value ? (
        <p class="quiet">Loading …</p>
      ) : (
        !pane.gone.value && <p class="quiet grow">{name} is in no thread. Create one, or be added to one.</p>
      )}
    </section>
  );
}

/** The messages that were rejected in threads that are not open. One that is gone can't be opened. */
function Rejected({ pane, composer }: { pane: Pane; composer: Field }) {
  const shown = pane.gone.value ? '' : pane.selected.value;
  const entries = outbox.value.filter((entry) => entry.state === 'rejected' && entry.person === pane.id && entry.fields.thread_id !== shown);
  if (entries.length === 0) return null;
  return (
    <details class="rejected" open={Boolean(pane.gone.value)}>
      <summary>Rejected messages{!pane.gone.value && ' in other threads'}: {entries.length}</summary>
      <ol class="messages" tabIndex={0} aria-label="Rejected messages">
        {entries.map((entry) => (
          <Unwritten key={entry.key} pane={pane} entry={entry} composer={composer} />
        ))}
      </ol>
    </details>
  );
}

function Who({ pane, at }: { pane: Pane; at: number }) {
  const adding = useSignal(false);
  const problem = useSignal('');
  if (state.session.value.account) return <strong class="name" dir="auto">{pane.viewer.name}</strong>;
  const add = async (event: Event): Promise<void> => {
    const [name] = typed(event, 'name');
    const outcome = await act.newPerson(at, name);
    problem.value = outcome.ok ? '' : inWords(outcome.problem);
    adding.value = !outcome.ok;
  };
  if (adding.value) {
    return (
      <form class="row name" onSubmit={add} onKeyDown={(event) => event.key === 'Escape' && !event.isComposing && (adding.value = false)}>
        <label>
          <span class="hidden">Name of the new person</span>
          <input name="name" placeholder="Name" dir="auto" ref={focusFirst} />
        </label>
        <button>Register</button>
        <button type="button" class="plain" onClick={() => (adding.value = false)}>
          Cancel
        </button>
        {problem.value && <span class="problem" role="alert">{problem.value}</span>}
      </form>
    );
  }
  return (
    <>
      <label class="name">
        <span class="hidden">Person</span>
        <select onChange={(event) => act.replacePane(at, event.currentTarget.value)} value={pane.id}>
          {state.people.value.map((person) => (
            <option key={person.id} value={person.id}>
              {person.name}
            </option>
          ))}
        </select>
      </label>
      <button class="plain" title="Somebody new" onClick={() => (adding.value = true)}>
        +<span class="hidden"> somebody new</span>
      </button>
    </>
  );
}

export const focusFirst = (field: HTMLElement | null): void => field?.focus();

const more = 'more'; // no thread has this id

function ThreadPicker({ pane, at }: { pane: Pane; at: number }) {
  if (pane.threads.value.length === 0) return null;
  const unread = Object.entries(pane.unread.value).reduce((sum, [id, count]) => (id === pane.selected.value ? sum : sum + count), 0);
  const choose = (list: HTMLSelectElement): void => {
    if (list.value !== more) return act.open(pane, list.value);
    list.value = pane.selected.peek();
    act.listMore(pane);
  };
  return (
    <label class="picker">
      <span class="hidden">Thread</span>
      {unread > 0 && (
        <span class="badge" title="Unread messages in other threads">
          {unread > 99 ? '99+' : unread}
        </span>
      )}
      <select id={`thread-${at}`} dir="auto" onChange={(event) => choose(event.currentTarget)} value={pane.selected.value}>
        {!pane.threads.value.some((thread) => thread.id === pane.selected.value) && (
          <option key="none" value={pane.selected.value}>
            Choose a thread
          </option>
        )}
        {pane.threads.value.map((thread) => (
          <option key={thread.id} value={thread.id}>
            {thread.name}
            {pane.unread.value[thread.id] ? ` (${pane.unread.value[thread.id]} unread)` : ''}
          </option>
        ))}
        {pane.hasMore.value && (
          <option key={more} value={more}>
            More threads …
          </option>
        )}
      </select>
    </label>
  );
}

function NewThread({ pane, at }: { pane: Pane; at: number }) {
  const details = useRef<HTMLDetailsElement>(null);
  const submit = async (event: Event): Promise<void> => {
    const [name, form] = typed(event, 'name');
    if (!(await act.createThread(pane, name))) return;
    form.reset();
    if (details.current) details.current.open = false;
  };
  return (
    <details class="new" ref={details}>
      <summary>New thread</summary>
      <form class="row" onSubmit={submit}>
        <label>
          <span class="hidden">Name of the new thread</span>
          <input name="name" placeholder="Name" dir="auto" aria-describedby={`new-${at}`} />
        </label>
        <button>Create</button>
      </form>
      <Problem of={pane} field="new" id={`new-${at}`} />
    </details>
  );
}

function Title({ pane }: { pane: Pane }) {
  const thread = pane.thread.value;
  const count = pane.members.length;
  return (
    <div class="title">
      <h2 dir="auto">{thread?.name}</h2>
      <span class="quiet" title="The number of the last event that is shown">
        version {thread?.version}
      </span>
      <button
        class="plain"
        aria-expanded={pane.panel.value === 'people'}
        onClick={() => (pane.panel.value = pane.panel.value === 'people' ? 'messages' : 'people')}
      >
        {count === 1 ? '1 person' : `${count}${pane.manyMembers.value ? ' or more' : ''} people`}
      </button>
    </div>
  );
}
