import * as act from './actions.ts';
import { csrf, inWords } from './api.ts';
import { Chat } from './chat.tsx';
import { Flow } from './flow.tsx';
import * as past from './history.tsx';
import type { PageForLab } from './forlab.ts';
import * as operations from './operations.tsx';
import { onConnected } from './live.ts';
import { Fragment, h, show } from './view.ts';
import type { Child } from './view.ts';
import { change, onChange, state } from './state.ts';
import type { ProgramStatus, Session, View } from './state.ts';

/** The failure lab is a script of its own, which only a server with a lab has. */
let lab: { View: (page: PageForLab) => Child } | null = null;

const pageForLab: PageForLab = {
  changed: () => change(() => undefined),
  pane: () => state.panes[state.front],
  post: async (text) => {
    const pane = state.panes[state.front];
    const outcome = pane && (await act.postText(pane, text));
    if (!outcome?.ok) throw new Error(outcome ? inWords(outcome.problem) : 'open a thread in the chat first');
    return outcome.answer.version;
  },
  headers: csrf,
  get withToken() {
    return state.session.account !== undefined;
  },
};

const views: Array<[View, string]> = [
  ['chat', 'Chat'],
  ['history', 'Time travel'],
  ['lab', 'Failure lab'],
  ['operations', 'Operations'],
];

function Page(): Child {
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
              .filter(([view]) => state.ready && !needsLogin() && (view !== 'lab' || state.session.lab))
              .map(([view, name]) => (
                <a key={view} href={`#${view}`} aria-current={state.view === view ? 'page' : undefined}>
                  {name}
                </a>
              ))}
          </nav>
          <span class={`live ${state.live}`} role="status">
            {state.live === 'connected' ? 'live' : state.panes.length > 0 ? 'connection lost, reconnecting …' : ''}
          </span>
          <Account />
        </div>
        {state.session.auth === 'none' && state.ready && (
          <p class="open">Nobody is asked who they are here (AUTH=none): everybody can be anybody. It is for a first look.</p>
        )}
      </header>
      <main id="main" class={state.view}>
        {needsLogin() ? (
          <Login />
        ) : state.view === 'history' ? (
          <past.History />
        ) : state.view === 'operations' ? (
          <operations.Operations />
        ) : (
          <>
            {state.view === 'lab' && lab ? <Broken /> : <Chat />}
            <Flow />
          </>
        )}
      </main>
    </>
  );
}

/** The lab, with the chat below it. */
const Broken = (): Child => (
  <div class="broken">
    {lab?.View(pageForLab)}
    <Chat />
  </div>
);

const needsLogin = (): boolean => state.ready && state.session.auth !== 'none' && (!state.session.account || state.session.expired === true);

function Account(): Child {
  if (!state.session.account) return null;
  return (
    <form method="post" action="/logout">
      <input type="hidden" name="csrf" value={state.session.csrf} />
      <button class="plain">Log out</button>
    </form>
  );
}

function Login(): Child {
  return (
    <section class="card welcome">
      <h2>{state.session.expired ? 'Your session has ended' : 'Log in'}</h2>
      {state.session.auth === 'dev' ? (
        <>
          <p>The issuer for development gives a token to anybody who asks. Who do you want to be?</p>
          {state.session.users?.map((user) => (
            <form key={user} method="post" action="/login">
              <input type="hidden" name="user" value={user} />
              <button class="primary">Log in as {user}</button>
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

function look(): void {
  const view = location.hash.slice(1) as View;
  change(() => (state.view = views.some(([known]) => known === view) ? view : 'chat'));
  const pane = state.panes[state.front];
  if (state.view === 'history' && pane?.selected) void past.load(pane);
  if (state.view === 'operations') void operations.load(pane);
}

/** Asks the programs how they are, once a second while somebody looks. */
async function watch(): Promise<void> {
  for (;;) {
    if (!document.hidden) {
      try {
        const answer = (await (await fetch('/status')).json()) as { programs: ProgramStatus[] };
        const health = answer.programs.find((program) => program.name === 'read-model-updater')?.health;
        const sample = { at: performance.now(), lag: (health?.behind_seconds ?? 0) * 1000, records: health?.behind_records ?? 0 };
        change(() => {
          state.status = answer.programs;
          state.samples = [...state.samples.filter((each) => sample.at - each.at < 60_000), sample];
        });
      } catch {
        change(() => (state.status = state.status.map((program) => ({ ...program, up: false }))));
      }
      for (const pane of state.panes) void act.loadThreads(pane);
      if (state.view === 'history') look();
    }
    await new Promise((again) => setTimeout(again, 1000));
  }
}

async function start(): Promise<void> {
  for (;;) {
    try {
      const session = (await (await fetch('/session', { headers: csrf() })).json()) as Session;
      change(() => (state.session = session));
      break;
    } catch {
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
  change(() => ((state.people = act.recall()), (state.ready = true)));
  if (needsLogin()) return;
  if (state.session.lab) {
    const script = '/lab/lab.js';
    lab = (await import(script)) as typeof lab;
  }
  if (state.session.account) {
    const person = { id: state.session.account, name: state.session.name ?? 'You' };
    change(() => (state.panes = [act.newPane(person)]));
    void act.readName(person);
  } else {
    change(() => (state.panes = state.people.slice(0, 2).map((person) => act.newPane(person))));
  }
  for (const pane of state.panes) void act.loadThreads(pane);
  window.addEventListener('hashchange', look);
  onConnected(look);
  look();
  void watch();
}

const root = document.getElementById('page');
if (root) onChange(() => show(root, <Page />));
change(() => undefined);
void start();
