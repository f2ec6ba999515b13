import * as act from './actions.ts';
import { ulid } from './api.ts';
import { Fragment, h } from './view.ts';
import type { Child } from './view.ts';
import { change, state } from './state.ts';
import type { Pane, Pending, ShownMember, ShownMessage } from './state.ts';

export function Chat(): Child {
  if (!state.ready) return <p class="quiet">Connecting to the server …</p>;
  if (state.panes.length === 0) return <Welcome />;
  return (
    <div class="panes">
      {state.panes.length > 1 && (
        <div class="switch" role="group" aria-label="Who is shown">
          {state.panes.map((pane, at) => (
            <button aria-pressed={String(state.front === at)} onClick={() => change(() => (state.front = at))}>
              {pane.viewer.name}
            </button>
          ))}
        </div>
      )}
      {state.panes.map((pane, at) => (
        <PaneView pane={pane} at={at} />
      ))}
    </div>
  );
}

function Welcome(): Child {
  return (
    <section class="card welcome">
      <h2>See a message become an event</h2>
      <p>
        Two people chat. Each thing they do is a command, each command becomes an event in a journal, and what they read is made from
        the events a few milliseconds later. This page shows every step of it.
      </p>
      <button class="primary" onClick={() => void act.begin()}>
        Start a chat between Ada and Bob
      </button>
    </section>
  );
}

function PaneView({ pane, at }: { pane: Pane; at: number }): Child {
  const name = pane.viewer.name;
  return (
    <section key={`pane-${at}`} class={`card pane ${state.front === at ? 'front' : ''}`} aria-label={`What ${name} sees`}>
      <header class="who">
        <span class="avatar" style={hue(pane.viewer.id)} aria-hidden="true">
          {name.slice(0, 1)}
        </span>
        <Who pane={pane} at={at} />
        <ThreadPicker pane={pane} at={at} />
      </header>
      <Problem of={pane} field="list" />
      <Problem of={pane} field="account" />
      {state.session.unnamed && (
        <p class="notice">
          Others see a number instead of your name.{' '}
          <button onClick={() => void act.registerName(pane)}>Register the name {name}</button>
        </p>
      )}
      {pane.gone && <p class="notice">{pane.gone}</p>}
      {pane.thread ? <Thread pane={pane} at={at} /> : pane.selected && !pane.gone ? <p class="quiet">Loading …</p> : <NoThread pane={pane} />}
      <NewThread pane={pane} at={at} />
    </section>
  );
}

function Who({ pane, at }: { pane: Pane; at: number }): Child {
  if (state.session.account) return <strong class="name">{pane.viewer.name}</strong>;
  const choose = (event: Event): void => {
    const picked = (event.target as HTMLSelectElement).value;
    if (picked === 'new') return void newPerson(at);
    const person = state.people.find((each) => each.id === picked);
    if (person) replacePane(at, person);
  };
  return (
    <label class="name">
      <span class="hidden">Person</span>
      <select onChange={choose} value={pane.viewer.id}>
        {state.people.map((person) => (
          <option key={person.id} value={person.id}>
            {person.name}
          </option>
        ))}
        <option key="new" value="new">
          Somebody new …
        </option>
      </select>
    </label>
  );
}

function replacePane(at: number, person: { id: string; name: string }): void {
  state.panes[at]?.unfollow();
  const pane = act.newPane(person);
  change(() => (state.panes[at] = pane));
  void act.loadThreads(pane);
}

const names = ['Cleo', 'Dan', 'Eve', 'Finn', 'Gwen', 'Hugo', 'Iris', 'Jon', 'Kai', 'Lea', 'Max', 'Nia'];

async function newPerson(at: number): Promise<void> {
  const name = names.find((each) => !state.people.some((person) => person.name === each)) ?? `Guest ${state.people.length}`;
  const person = { id: ulid(), name };
  const outcome = await act.register(person);
  if (outcome.ok) replacePane(at, person);
}

function ThreadPicker({ pane, at }: { pane: Pane; at: number }): Child {
  if (pane.threads.length === 0) return null;
  return (
    <label class="picker">
      <span class="hidden">Thread</span>
      <select id={`thread-${at}`} onChange={(event: Event) => act.open(pane, (event.target as HTMLSelectElement).value)} value={pane.selected}>
        {!pane.threads.some((thread) => thread.id === pane.selected) && (
          <option key="none" value={pane.selected}>
            Choose a thread
          </option>
        )}
        {pane.threads.map((thread) => (
          <option key={thread.id} value={thread.id}>
            {thread.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function NoThread({ pane }: { pane: Pane }): Child {
  return pane.gone ? null : <p class="quiet grow">{pane.viewer.name} is in no thread. Create one, or be added to one.</p>;
}

function NewThread({ pane, at }: { pane: Pane; at: number }): Child {
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('name') as HTMLInputElement;
    if (await act.createThread(pane, field.value)) field.value = '';
  };
  return (
    <details class="new">
      <summary>New thread</summary>
      <form class="row" onSubmit={submit}>
        <label>
          <span class="hidden">Name of the new thread</span>
          <input name="name" placeholder="Name" aria-describedby={`new-${at}`} />
        </label>
        <button>Create</button>
      </form>
      <Problem of={pane} field="new" id={`new-${at}`} />
    </details>
  );
}

function Thread({ pane, at }: { pane: Pane; at: number }): Child {
  const thread = pane.thread;
  if (!thread) return null;
  const members = thread.members.edges.map((edge) => edge.node);
  return (
    <>
      <div class="title">
        <h2>{thread.name}</h2>
        <span class="quiet" title="The number of the last event that is shown">
          version {thread.version}
        </span>
        <button
          class="plain"
          aria-expanded={String(pane.panel === 'people')}
          onClick={() => change(() => (pane.panel = pane.panel === 'people' ? 'messages' : 'people'))}
        >
          {members.length === 1 ? '1 person' : `${members.length} people`}
        </button>
      </div>
      <Problem of={pane} field="name" />
      {pane.panel === 'people' && <People pane={pane} at={at} members={members} />}
      <Messages pane={pane} members={members} />
      <Composer pane={pane} at={at} />
    </>
  );
}

function Messages({ pane, members }: { pane: Pane; members: ShownMember[] }): Child {
  const messages = pane.thread?.messages.edges.map((edge) => edge.node) ?? [];
  const admin = members.some((member) => member.userAccountId === pane.viewer.id && member.role === 'ADMIN');
  const posts = pane.pending.filter((each) => each.kind === 'post' && !messages.some((message) => message.id === each.message));
  return (
    <ol class="messages" aria-label="Messages" aria-live="polite" tabindex="0" created={keepAtEnd}>
      {pane.thread?.messages.pageInfo.hasPreviousPage && <li class="quiet">Earlier messages are not shown.</li>}
      {messages.length + posts.length === 0 && <li class="quiet">Nobody has said anything yet.</li>}
      {messages.map((message) => (
        <MessageView pane={pane} message={message} admin={admin} />
      ))}
      {posts.map((pending) => (
        <li key={pending.key} class="message own pending">
          <p>{pending.text}</p>
          <small>{progress(pending)}</small>
        </li>
      ))}
    </ol>
  );
}

/** Grey says: not in the read model yet. Why, it says in words. */
function progress(pending: Pending): string {
  return pending.state === 'sending' ? 'sending …' : `written as event ${pending.version}, not in the read model yet`;
}

function MessageView({ pane, message, admin }: { pane: Pane; message: ShownMessage; admin: boolean }): Child {
  const own = message.userAccountId === pane.viewer.id;
  const pending = pane.pending.find((each) => each.message === message.id && each.kind !== 'post');
  const text = pending?.kind === 'edit' ? pending.text : message.text;
  if (pane.editing?.id === message.id) return <Edit pane={pane} id={message.id} />;
  return (
    <li key={message.id} class={`message ${own ? 'own' : ''} ${pending ? 'pending' : ''} ${pending?.kind === 'delete' ? 'deleted' : ''}`}>
      {!own && (
        <strong style={hue(message.userAccountId)} class="sender">
          {nameOf(message.sender?.name, message.userAccountId)}
        </strong>
      )}
      <p>{text}</p>
      <small>
        {pending ? `${pending.kind === 'delete' ? 'deletion' : 'edit'} ${progress(pending)}` : time(message.createdAt)}
        {!pending && message.updatedAt !== message.createdAt && ' · edited'}
      </small>
      {!pending && (own || admin) && (
        <span class="tools">
          {own && (
            <button class="plain" aria-label={`Edit "${text}"`} onClick={() => change(() => (pane.editing = { id: message.id, text }))}>
              Edit
            </button>
          )}
          <button class="plain" aria-label={`Delete "${text}"`} onClick={() => void act.deleteMessage(pane, message.id)}>
            Delete
          </button>
        </span>
      )}
    </li>
  );
}

function Edit({ pane, id }: { pane: Pane; id: string }): Child {
  const close = (): void => change(() => ((pane.editing = null), delete pane.problems.edit));
  return (
    <li key={`${id}-edit`} class="message own">
      <form
        onSubmit={(event: Event) => (event.preventDefault(), void act.saveEdit(pane))}
        onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && close()}
      >
        <label>
          <span class="hidden">New text</span>
          <textarea
            rows="2"
            value={pane.editing?.text}
            aria-describedby={`edit-${id}`}
            created={(field: HTMLElement) => queueMicrotask(() => field.focus())}
            onInput={(event: Event) => pane.editing && (pane.editing.text = (event.target as HTMLTextAreaElement).value)}
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

function Composer({ pane, at }: { pane: Pane; at: number }): Child {
  return (
    <form class="composer" onSubmit={(event: Event) => (event.preventDefault(), void act.post(pane))}>
      <label>
        <span class="hidden">Message from {pane.viewer.name}</span>
        <textarea
          rows="1"
          placeholder={`Message as ${pane.viewer.name}`}
          value={pane.draft}
          aria-describedby={`draft-${at}`}
          onInput={(event: Event) => change(() => (pane.draft = (event.target as HTMLTextAreaElement).value))}
          onKeyPress={submitOnEnter}
        />
      </label>
      <button class="primary">Send</button>
      <Problem of={pane} field="draft" id={`draft-${at}`} />
    </form>
  );
}

function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.target as HTMLTextAreaElement).form?.requestSubmit();
}

function People({ pane, at, members }: { pane: Pane; at: number; members: ShownMember[] }): Child {
  const admin = members.some((member) => member.userAccountId === pane.viewer.id && member.role === 'ADMIN');
  return (
    <div class="people">
      <ul>
        {members.map((member) => {
          const self = member.userAccountId === pane.viewer.id;
          const name = nameOf(member.account?.name, member.userAccountId);
          return (
            <li key={member.id}>
              <span class="avatar small" style={hue(member.userAccountId)} aria-hidden="true">
                {name.slice(0, 1)}
              </span>
              <span class="grow">
                {name}
                {self && ' (you)'}
                {member.account?.closed && ' · account closed'}
              </span>
              {admin ? (
                <label>
                  <span class="hidden">Role of {name}</span>
                  <select
                    value={member.role}
                    onChange={(event: Event) => {
                      const role = (event.target as HTMLSelectElement).value === 'ADMIN' ? 'Admin' : 'Member';
                      void act.changeRole(pane, member.userAccountId, role);
                    }}
                  >
                    <option value="ADMIN">Admin</option>
                    <option value="MEMBER">Member</option>
                  </select>
                </label>
              ) : (
                <span class="quiet">{member.role === 'ADMIN' ? 'Admin' : 'Member'}</span>
              )}
              {(admin || self) && (
                <button class="plain" onClick={() => void act.removeMember(pane, member.userAccountId)} aria-label={self ? 'Leave the thread' : `Remove ${name}`}>
                  {self ? 'Leave' : 'Remove'}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      <Problem of={pane} field="members" />
      {admin && <AddMember pane={pane} at={at} members={members} />}
      {admin && <AdminTools pane={pane} at={at} />}
      <button class="plain danger" onClick={() => void act.closeAccount(pane)}>
        Close {pane.viewer.name}'s account
      </button>
    </div>
  );
}

function AddMember({ pane, at, members }: { pane: Pane; at: number; members: ShownMember[] }): Child {
  const others = state.people.filter((person) => !members.some((member) => member.userAccountId === person.id));
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('user') as HTMLInputElement;
    const typed = field.value.trim();
    const person = others.find((each) => each.name.toLowerCase() === typed.toLowerCase());
    if (await act.addMember(pane, person?.id ?? typed, 'Member')) field.value = '';
  };
  return (
    <form class="row" onSubmit={submit}>
      <label class="grow">
        <span class="hidden">Name or account id of who is to be added</span>
        <input name="user" list={`others-${at}`} placeholder="Add a person: name or account id" aria-describedby={`add-${at}`} />
      </label>
      <datalist id={`others-${at}`}>
        {others.map((person) => (
          <option key={person.id} value={person.name} />
        ))}
      </datalist>
      <button>Add</button>
      <Problem of={pane} field="add" id={`add-${at}`} />
    </form>
  );
}

function AdminTools({ pane, at }: { pane: Pane; at: number }): Child {
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('name') as HTMLInputElement;
    if ((await act.rename(pane, field.value)).ok) field.value = '';
  };
  return (
    <form class="row" onSubmit={submit}>
      <label class="grow">
        <span class="hidden">New name of the thread</span>
        <input name="name" placeholder="New name of the thread" id={`rename-${at}`} />
      </label>
      <button>Rename</button>
      <button type="button" class="danger" onClick={() => void act.deleteThread(pane)}>
        Delete thread
      </button>
    </form>
  );
}

function Problem({ of, field, id }: { of: Pane; field: string; id?: string }): Child {
  const text = of.problems[field];
  return (
    <span class={text ? 'problem' : 'hidden'} id={id} role="alert">
      {text}
    </span>
  );
}

/** Keeps a list scrolled to its end while it grows, unless somebody has scrolled up. */
function keepAtEnd(list: Element): void {
  let atEnd = true;
  list.addEventListener('scroll', () => (atEnd = list.scrollTop + list.clientHeight > list.scrollHeight - 40));
  new MutationObserver(() => atEnd && (list.scrollTop = list.scrollHeight)).observe(list, { childList: true, subtree: true, characterData: true });
}

export const nameOf = (name: string | undefined, id: string): string =>
  name ?? state.people.find((person) => person.id === id)?.name ?? `…${id.slice(-6)}`;

export const time = (text: string): string => new Date(text).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

/** A colour of each person's own. */
export function hue(id: string): Record<string, string> {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) % 360;
  return { '--hue': String(sum) };
}
