// The page around its views: who is logged in, the navigation, and what is asked for again and again.
import { render } from 'preact';
import { ask, loadCheck, retry } from './api.ts';
import { app, setApplication } from './application.ts';
import type { Application, View } from './application.ts';
import { Sure, titled } from './common.tsx';
import { Opened } from './feed.tsx';
import { keepFocus } from './focus.ts';
import { onConnected } from './live.ts';
import { play } from './slow.ts';
import { know, state } from './state.ts';
import { readStatus } from './status.ts';
import { onSettled } from './traces.ts';
import { watch as watchEvents } from './watch.ts';

const shown = (): View[] => app().views.filter((view) => view.shown?.() ?? true);

function Page() {
  const { Tools, Top, look } = app();
  const view = shown().find(({ id }) => id === state.view.value) ?? shown()[0];
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header>
        <div class="top">
          <h1 class="brand">Threads</h1>
          <nav aria-label="Views">
            {state.ready.value && !needsLogin() && shown().map(({ id, name }) => (
              <a key={id} href={`#${id}`} aria-current={view?.id === id ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <span class={`live ${state.live.value}`} role="status">
            {{ connected: 'live', lost: 'connection lost, reconnecting …', connecting: '' }[state.live.value]}
          </span>
          {Tools && <Tools />}
          <Account />
        </div>
        {Top && <Top />}
      </header>
      <main id="main" class={view?.id} data-look={look?.()} tabIndex={-1}>
        {needsLogin() ? <Login /> : view && <view.Body />}
      </main>
      {state.session.value.auth === 'none' && state.ready.value && (
        <footer class="open">Nobody is asked who they are here (AUTH=none): everybody can be anybody. It is for a first look.</footer>
      )}
      <Opened />
      <Sure />
    </>
  );
}

/** Skips to the content. The address stays: it names the view. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

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
  const view = shown().find(({ id }) => id === location.hash.slice(1)) ?? shown()[0];
  if (state.view.peek() !== view?.id) scrollTo(0, 0);
  state.view.value = view?.id ?? '';
  view?.opened?.();
}

/** Asks the programs how they are, once a second while somebody looks. */
async function watch(): Promise<void> {
  for (;;) {
    if (!document.hidden) await readStatus();
    app().tick?.();
    await new Promise((again) => setTimeout(again, 1000));
  }
}

async function start(): Promise<void> {
  await loadCheck();
  for (;;) {
    try {
      state.session.value = await ask('GET /session');
      break;
    } catch {
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
  const { account, name, users } = state.session.value;
  if (account) {
    state.people.value = (users ?? []).map((user) => ({ id: user.account, name: titled(user.name) }));
    know({ id: account, name: name ?? 'You' });
  }
  app().recall?.();
  state.ready.value = true;
  if (needsLogin()) return;
  await app().begin?.();
  window.addEventListener('hashchange', show);
  onConnected(() => (retry(), show(), app().connected?.()));
  show();
  watchEvents();
  void watch();
}

/** Shows an application. */
export function begin(application: Application): void {
  setApplication(application);
  onSettled((trace) => (play(trace), application.settled?.(trace)));
  const root = document.getElementById('page');
  if (root) {
    root.replaceChildren();
    render(<Page />, root);
    keepFocus(root);
  }
  void start();
}
