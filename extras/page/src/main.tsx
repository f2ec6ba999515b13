import { effect } from '@preact/signals';
import { render } from 'preact';
import * as act from './actions.ts';
import { csrf, inWords, retry } from './api.ts';
import { Chat } from './chat.tsx';
import { Sure } from './common.tsx';
import { Events } from './events.tsx';
import { Flow } from './flow.tsx';
import { Opened } from './feed.tsx';
import { keepFocus } from './focus.ts';
import * as past from './history.tsx';
import { lab } from './forlab.ts';
import type { Lab, PageForLab } from './forlab.ts';
import * as operations from './operations.tsx';
import { onConnected } from './live.ts';
import { postText } from './message.tsx';
import { resume } from './outbox.ts';
import { frontPane, Pane, state } from './state.ts';
import type { Session, View } from './state.ts';
import { readStatus } from './status.ts';
import { look, Tour, TourButton } from './tour.tsx';
import { unreadByAll } from './unread.ts';
import { watch as watchEvents } from './watch.ts';

// For the failure lab, a script of its own, which only a server with a lab has.
export { signal, useSignal } from '@preact/signals';
export { Fragment, jsx, jsxs } from 'preact/jsx-runtime';

const pageForLab: PageForLab = {
  ready: () => Boolean(frontPane()?.thread.value),
  pane: () => {
    const pane = frontPane();
    return pane && { viewer: pane.viewer, selected: pane.selected.peek(), version: pane.thread.peek()?.version ?? 0 };
  },
  post: async (text) => {
    const pane = frontPane();
    const outcome = pane && (await postText(pane, text));
    if (!outcome?.ok) throw new Error(outcome ? inWords(outcome.problem) : 'open a thread in the chat first');
    return outcome.answer.version;
  },
  headers: csrf,
  get withToken() {
    return state.session.peek().account !== undefined;
  },
};

const views: Array<[View, string]> = [
  ['chat', 'Chat'],
  ['events', 'Events'],
  ['history', 'Time travel'],
  ['lab', 'Failure lab'],
  ['operations', 'Operations'],
];

function Page() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <div class="top">
          <h1 class="brand">Threads</h1>
          <nav aria-label="Views">
            {views
              .filter(([view]) => state.ready.value && !needsLogin() && may(view))
              .map(([view, name]) => (
                <a key={view} href={`#${view}`} aria-current={state.view.value === view ? 'page' : undefined}>
                  {name}
                </a>
              ))}
          </nav>
          <span class={`live ${state.live.value}`} role="status">
            {{ connected: 'live', lost: 'connection lost, reconnecting …', connecting: '' }[state.live.value]}
          </span>
          <TourButton />
          <Account />
        </div>
        {state.session.value.auth === 'none' && state.ready.value && (
          <p class="open">Nobody is asked who they are here (AUTH=none): everybody can be anybody. It is for a first look.</p>
        )}
        {lab.value && <lab.value.Banner />}
        <Tour />
      </header>
      <main id="main" class={state.view.value} data-look={look()} tabIndex={-1}>
        {needsLogin() ? (
          <Login />
        ) : state.view.value === 'history' ? (
          <past.History />
        ) : state.view.value === 'events' ? (
          <Events />
        ) : state.view.value === 'operations' ? (
          <operations.Operations />
        ) : (
          <>
            {state.view.value === 'lab' && lab.value ? <Broken lab={lab.value} /> : <Chat />}
            <Flow />
          </>
        )}
      </main>
      <Opened />
      <Sure />
    </>
  );
}

/** What the programs would refuse is not shown. */
const may = (view: View): boolean => {
  const { lab: hasLab, operator } = state.session.value;
  return view === 'lab' ? hasLab : view === 'events' ? operator : true;
};

/** The lab, with the chat below it. */
const Broken = ({ lab: { View } }: { lab: Lab }) => (
  <div class="broken">
    <View />
    <Chat />
  </div>
);

const needsLogin = (): boolean => {
  const session = state.session.value;
  return state.ready.value && session.auth !== 'none' && (!session.account || session.expired === true);
};

function Account() {
  if (!state.session.value.account) return null;
  return (
    <form method="post" action="/logout">
      <input type="hidden" name="csrf" value={state.session.value.csrf} />
      <button class="plain">Log out</button>
    </form>
  );
}

function Login() {
  return (
    <section class="card welcome">
      <h2>{state.session.value.expired ? 'Your session has ended' : 'Log in'}</h2>
      {state.session.value.auth === 'dev' ? (
        <>
          <p>The issuer for development gives a token to anybody who asks. Who do you want to be?</p>
          {state.session.value.users?.map(({ name }) => (
            <form key={name} method="post" action="/login">
              <input type="hidden" name="user" value={name} />
              <button class="primary">Log in as {name}</button>
            </form>
          ))}
        </>
      ) : (
        <a class="button primary" href="/login">
          Log in
        </a>
      )}
    </section>
  );
}

function show(): void {
  const view = location.hash.slice(1) as View;
  state.view.value = views.some(([known]) => known === view && may(known)) ? view : 'chat';
  if (state.view.value === 'operations') void operations.load(frontPane());
}

/** Asks the programs how they are, once a second while somebody looks. */
async function watch(): Promise<void> {
  for (;;) {
    if (!document.hidden) {
      await readStatus();
    }
    // Also while nobody looks, for the count of unread messages in the title.
    for (const pane of state.panes.peek()) void act.loadThreads(pane);
    await new Promise((again) => setTimeout(again, 1000));
  }
}

async function start(): Promise<void> {
  for (;;) {
    try {
      state.session.value = (await (await fetch('/session', { headers: csrf() })).json()) as Session;
      break;
    } catch {
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
  const { account, name, users, lab: hasLab } = state.session.value;
  if (account) {
    state.people.value = (users ?? []).map((user) => ({ id: user.account, name: user.name.slice(0, 1).toUpperCase() + user.name.slice(1) }));
    act.know({ id: account, name: name ?? 'You' });
    state.panes.value = [new Pane(account)];
  } else {
    act.recall();
  }
  state.ready.value = true;
  if (needsLogin()) return;
  if (hasLab) {
    const script = '/lab/lab.js';
    const { open } = (await import(script)) as { open: (page: PageForLab) => Lab };
    lab.value = open(pageForLab);
  }
  for (const pane of state.panes.value) {
    if (account) void act.readName(pane);
    void act.loadThreads(pane);
  }
  resume();
  window.addEventListener('hashchange', show);
  onConnected(() => (retry(), show(), past.reload()));
  show();
  watchEvents();
  void watch();
}

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  render(<Page />, root);
  keepFocus(root);
}
effect(() => {
  const unread = unreadByAll();
  document.title = unread > 0 ? `(${unread}) Threads` : 'Threads';
});
void start();
