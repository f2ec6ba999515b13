// The tour: seven steps on real commands. A step is done when the system's answers say so, and the next one begins. It can
// be left, and taken up again, also after a reload.
import { batch, effect, signal } from '@preact/signals';
import { ask, command, inWords, query, QueryError, Refusal, ulid } from '../api.ts';
import { asked } from '../map.tsx';
import { threadVersion } from '../queries.ts';
import { rebuild as rebuildRows } from '../rebuild.ts';
import type { Problem } from '../requests.ts';
import { keep, recalled, state } from '../state.ts';
import type { Trace } from '../state.ts';
import { isAtEnd, readStatus } from '../status.ts';
import { watched } from '../watch.ts';
import { inTime, reasonOf } from '../words.ts';
import { lab } from './forlab.ts';
import { order, post } from './outbox.ts';
import { panes } from './panes.ts';
import type { Pane } from './panes.ts';
import { look as lookAtSecond, second } from './second.ts';

/** Where on the map a step is to be seen: style.css marks it. */
type Place = 'tape' | 'aggregate' | 'distance' | 'rows' | 'last';

interface Step {
  name: string;
  place: Place;
  needsLab?: boolean;
  about: () => string; // one sentence: what to do now
  buttons: () => Array<[string, () => Promise<void>]>;
  seen: () => string; // what the system has answered; '': not yet
}

/** What is known of the step that is on. */
interface Facts {
  since: number; // when it began
  asked?: boolean;
  version?: number; // of the event that it is about
  read?: number; // the version of an answer
  took?: number; // milliseconds
  behind?: number; // how often the answer was that the rows are not there yet
  hole?: number; // the event whose record is lost
  came?: number; // the event that has just come to the rows, and waits or bounces off
  done?: string;
}

interface Kept {
  step: number;
  open: boolean;
}

const key = 'threads.tour';
const kept = signal<Kept>({ step: 0, open: true, ...recalled<Partial<Kept>>(key, {}) });
const facts = signal<Facts>({ since: 0 });
const notes = signal<Array<{ name: string; text: string; skipped: boolean }>>([]); // of the steps that were on last
const resting = signal(false); // the result of the step is looked at, before the next one
const busy = signal(false);
const problem = signal('');

const writer = (): Pane | undefined => panes.value[0];
const reader = (): Pane | undefined => panes.value[1] ?? panes.value[0];
const nameOf = (pane: Pane | undefined): string => pane?.viewer.name ?? '';
const paused = (): boolean => lab.value?.faults.value?.paused === true;

/** The command of this step: the latest that the person has sent since it began. */
const sent = (path: string, stages: Array<Trace['stage']>): Trace | undefined =>
  state.traces.value.find((trace) => trace.path === path && trace.sentAt > facts.value.since && stages.includes(trace.stage));

const learn = (more: Partial<Facts>): void => {
  facts.value = { ...facts.peek(), ...more };
};

/* GraphQL:
query threadVersion($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }
*/

/** Reads the thread's version as somebody sees it, without a token, or with one. */
async function versionFor(pane: Pane, token = ''): Promise<number> {
  const data = await query(threadVersion, { thread: pane.selected.peek(), viewer: pane.id }, token);
  return data.getThread.version;
}

/** Posts a text as a person does, or with a key. */
async function say(pane: Pane, text: string, key?: string): Promise<number> {
  const fields = { ...pane.onThread, text };
  const outcome = await (key ? command(post, pane.viewer, fields, key) : order(pane.id, post, fields));
  if (!outcome.ok) throw new Error(outcome.problem.detail);
  return outcome.answer.version;
}

/** Looks at the programs until a condition holds. */
async function until(condition: () => boolean, what: string): Promise<void> {
  const patience = 20; // seconds
  for (const end = performance.now() + patience * 1000; !condition(); ) {
    if (performance.now() > end) throw new Error(`${what} has not happened within ${patience} s.`);
    await new Promise((again) => setTimeout(again, 250));
    await readStatus();
  }
}

const figure = (name: string): number => state.status.peek().find((each) => each.name === 'read-model-updater')?.figures[name] ?? 0;

const steps: Step[] = [
  {
    name: 'Say something',
    place: 'tape',
    about: () => {
      const written = sent(post, ['written']);
      return written
        ? `Event ${written.version} is in the journal, and ${nameOf(reader())} still reads the rows of event ${reader()?.thread.value?.version}: the projection, which makes rows from events, ${lab.value?.faults.value?.hold_ms ? 'is slowed down, so that you can see it' : 'is on its way'}.`
        : `Write a message as ${nameOf(writer())}, and watch the journal, which is marked: the events of this thread.`;
    },
    buttons: () => [],
    seen: () => {
      const trace = sent(post, ['visible']);
      return trace
        ? `your message is event ${trace.version} in the journal, on the *write side*; ${inTime((trace.visibleAt ?? 0) - trace.sentAt)} after it was sent it was in the rows that ${nameOf(reader())} reads, on the *read side*.`
        : '';
    },
  },
  {
    name: 'Be rejected',
    place: 'aggregate',
    about: () => `${notAdmin() ? `Let ${nameOf(notAdmin())}, who is no Admin, rename the thread` : 'Rename the thread to the name that it has'}: the aggregate, which is the thread with its rules, will reject it.`,
    buttons: () => [
      [
        notAdmin() ? `Rename it as ${nameOf(notAdmin())}` : 'Rename it',
        async () => {
          const pane = notAdmin() ?? writer();
          if (!pane) return;
          const name = notAdmin() ? 'A better name' : (pane.thread.peek()?.name ?? '');
          const outcome = await command('/threads/rename', pane.viewer, { ...pane.onThread, name });
          if (outcome.ok) throw new Error('It was not rejected.');
          pane.problem('name', `Rejected: rename: ${inWords(outcome.problem)}`);
        },
      ],
    ],
    seen: () => {
      const trace = sent('/threads/rename', ['rejected']);
      const { code, detail } = (trace?.answer ?? {}) as Partial<Problem>;
      return trace ? `${detail} (${code}). The aggregate has decided, and the journal has no new event.` : '';
    },
  },
  {
    name: 'Read something old',
    place: 'distance',
    needsLab: true,
    about: () => (paused() ? `The projection is paused: now write a message as ${nameOf(writer())}.` : 'Pause the projection, which makes the rows from the events.'),
    buttons: () => (paused() ? [] : [['Pause the projection', async () => lab.value?.set({ paused: true })]]),
    seen: () => {
      const trace = sent(post, ['written']);
      const { asked: begun, read } = facts.value;
      const pane = reader();
      if (paused() && trace && pane && !begun) {
        learn({ asked: true });
        void run(async () => {
          const read = await versionFor(pane);
          asked.value = { key: pane.selected.peek(), who: nameOf(pane), version: read, answered: true };
          learn(read < (trace.version ?? 0) ? { version: trace.version, read } : { asked: false, since: performance.now() });
        });
      }
      return read !== undefined
        ? `the journal has event ${facts.value.version}, and the answer to a query of ${nameOf(pane)} has just had the rows of event ${read}: old, but not wrong, and rows always catch up, which is called *eventual consistency*.`
        : '';
    },
  },
  {
    name: 'Ask with a token',
    place: 'rows',
    about: () => {
      const { asked, version, behind } = facts.value;
      if (!asked) return `Ask as ${nameOf(reader())} again, now with a token: it came with the answer to ${nameOf(writer())}'s last command, and names its thread and its event.`;
      return `The query has the token …${tokenOf(version).slice(22)}, so its answer waits for event ${version}${behind ? ` (no query may wait for long: asked again ${behind === 1 ? 'once' : `${behind} times`})` : ''}${paused() ? ': let the projection go on.' : '.'}`;
    },
    buttons: () => [
      ...(facts.value.asked ? [] : [[`Ask as ${nameOf(reader())} with the token`, askWithToken] as [string, () => Promise<void>]]),
      ...(facts.value.asked && paused() ? [['Resume the projection', async () => lab.value?.set({ paused: false })] as [string, () => Promise<void>]] : []),
    ],
    seen: () => {
      const { read, version = 0, took = 0 } = facts.value;
      return read !== undefined && read >= version ? `the answer came after ${inTime(took)}, when the rows had it, and has event ${read}. Who has a token reads at least its event.` : '';
    },
  },
  {
    name: 'Send twice',
    place: 'last',
    about: () =>
      facts.value.came
        ? `Event ${facts.value.came} is in the rows, and comes a second time: see how it bounces off.`
        : `Send one message of ${nameOf(writer())} twice under one key, as a client does whose answer got lost${lab.value ? '; the stream, which brings each new event to the projection, will bring it twice, too' : ''}.`,
    buttons: () => [['Send it twice', sendTwice]],
    seen: () => {
      const { version } = facts.value;
      const trace = sent(post, ['written', 'visible']);
      return version !== undefined && trace?.replayed && trace.version === version
        ? `both answers say event ${version}: one command, one event${lab.value ? `; the stream brought it twice, and the second bounced off the rows, which were already at ${version}` : ''}. That is *exactly once*.`
        : '';
    },
  },
  {
    name: 'Lose a record',
    place: 'tape',
    needsLab: true,
    about: () => {
      const { hole, came } = facts.value;
      if (came) return `Event ${came} has come, and the projection sees that event ${hole} is missing: the rows have a hole until it has read event ${hole} from the journal.`;
      if (hole) return `The stream has lost the record of event ${hole}: the journal has the event, the rows lack it, and the projection knows of it only when the next record comes.`;
      return 'The stream brings the projection a copy of each event, which is called its record: let it lose that of another message.';
    },
    buttons: () => (facts.value.hole ? (facts.value.came ? [] : [['Send the next message', fillHole]]) : [['Send, and lose the record', loseRecord]]),
    seen: () => facts.value.done ?? '',
  },
  {
    name: 'Rebuild',
    place: 'rows',
    about: () => {
      const { asked, version } = facts.value;
      if (!asked) return 'Rows can be thrown away, events can not: read all events again, from event 1 on, and make new rows of them, which is called a *replay*.';
      if (version) return `The chat goes on: event ${version}, which this page has sent as ${nameOf(writer())}, is in the live set at once; the second set takes its place when it has all events.`;
      return 'The events are read again from event 1 on, and a second set of tables fills beside the live one, which is read meanwhile.';
    },
    buttons: () => (facts.value.asked ? [] : [['Rebuild the rows', rebuild]]),
    seen: () => facts.value.done ?? '',
  },
];

const tokenOf = (version = 0): string => `${reader()?.selected.value ?? ''}:${version}`;

const notAdmin = (): Pane | undefined => panes.value.find((pane) => pane.thread.value !== null && !pane.admin);

/** Asks as another person, with the token of the last event; where all is read already, of a new one. */
async function askWithToken(): Promise<void> {
  const [pane, other] = [reader(), writer()];
  if (!pane || !other) return;
  const last = state.traces.peek().find((trace) => trace.stage === 'written' && trace.aggregate === pane.selected.peek())?.version;
  const version = last ?? (await say(other, 'Is this there already?'));
  const begun = performance.now();
  learn({ asked: true, version });
  const { since } = facts.peek();
  const isOver = (): boolean => facts.peek().since !== since; // it was begun again, or left
  const onMap = { key: pane.selected.peek(), who: nameOf(pane), version, answered: false };
  asked.value = onMap;
  void (async () => {
    for (let behind = 1; !isOver(); behind++) {
      try {
        const read = await versionFor(pane, tokenOf(version));
        if (isOver()) return;
        asked.value = { ...onMap, version: read, answered: true };
        setTimeout(() => (asked.value = null), toBeSeen * 2);
        return learn({ read, took: performance.now() - begun });
      } catch (error) {
        if (isOver()) return;
        if (!(error instanceof QueryError && error.code === 'READ_MODEL_BEHIND')) {
          asked.value = null;
          learn({ asked: false });
          return fail(error);
        }
        learn({ behind });
      }
    }
  })();
}

async function sendTwice(): Promise<void> {
  const pane = writer();
  if (!pane) return;
  await readStatus();
  const before = figure('projection_duplicates_total');
  await lab.value?.set({ delivery: 'twice' });
  try {
    const key = ulid();
    const first = await say(pane, 'Sent twice, with one key', key);
    const second = await say(pane, 'Sent twice, with one key', key);
    if (first !== second) throw new Error(`The second one became event ${second}.`);
    if (lab.value) {
      await until(() => figure('projection_duplicates_total') > before, 'that the record comes twice');
      learn({ came: second });
      await new Promise((done) => setTimeout(done, toBeSeen));
    }
    learn({ version: second });
  } finally {
    await lab.value?.set({ delivery: '' });
  }
}

async function loseRecord(): Promise<void> {
  const pane = writer();
  if (!pane) return;
  await lab.value?.set({ delivery: 'none' });
  try {
    const version = await say(pane, 'The stream forgets this one');
    // The projection has read the stream to its end, and the rows lack the event.
    await readStatus();
    await until(() => isAtEnd(state.samples.peek().at(-1)), 'that the stream is read to its end');
    const read = await versionFor(pane);
    if (read >= version) throw new Error(`The record of event ${version} was not lost.`);
    learn({ hole: version });
  } finally {
    await lab.value?.set({ delivery: '' });
  }
}

async function fillHole(): Promise<void> {
  const [pane, hole] = [writer(), facts.peek().hole];
  if (!pane || !hole) return;
  if ((await versionFor(pane)) >= hole) {
    learn({ done: `the next record was not needed: the projection compares its rows with the journal all the time, and after a minute it has read event ${hole} itself. The stream is a hint, the journal is the truth.` });
    return;
  }
  await readStatus();
  const before = figure('projection_events_filled_total');
  const held = lab.value?.faults.value?.hold_ms ?? 0;
  await lab.value?.set({ hold_ms: toBeSeen }); // before it looks at what came
  let version = 0;
  try {
    version = await say(pane, 'And this one arrives');
    learn({ came: version });
    await until(() => (pane.thread.peek()?.version ?? 0) >= version && figure('projection_events_filled_total') > before, 'that the gap is filled');
  } finally {
    await lab.value?.set({ hold_ms: held });
  }
  learn({ done: `event ${version} came, the projection saw that event ${hole} was missing, and read it from the journal. The stream is a hint, the journal is the truth.` });
}

async function rebuild(): Promise<void> {
  const pane = writer();
  if (!pane) return;
  learn({ asked: true });
  let events = watched.head.peek(); // in the whole journal; 0: unknown
  const slower = (): Promise<void> | undefined => {
    const part = Math.ceil(Math.max(1, events) / 100); // events
    return lab.value?.set({ replay_ms: Math.ceil(Math.min(800, (wholeReplay * part) / Math.max(1, events))), replay_events: part }); // after each part
  };
  const renewing = setInterval(() => lab.value?.faults.value?.replay_ms && void slower(), 3000); // the lab ends it otherwise
  try {
    await slower();
    const { ended, text } = await rebuildRows(async (now) => {
      if (!lab.value) return;
      if (now?.events_total && !events) {
        events = now.events_total;
        await slower();
      }
      await lookAtSecond(pane);
      const half = (second.peek()?.version ?? 0) * 2 > (pane.thread.peek()?.version ?? 0);
      if (half && !facts.peek().version) learn({ version: await say(pane, 'Written during the rebuild') });
    });
    if (!ended) throw new Error(text);
    const { wrong } = await ask('POST /operate/rows/verify', { repair: false }); // of many, those that can be compared in time
    if (wrong > 0) throw new Error(`The rows of ${wrong} aggregates differ from the journal.`);
    learn({ done: `all rows are new, made from the journal alone. The second set took the place of the live one in one step: nobody read half of it.${lab.value ? '' : ' It was over at once; make run has the failure lab, which slows it down.'}` });
  } catch (error) {
    if (!(error instanceof Refusal && [401, 403].includes(error.status))) throw error;
    skip(`it needs an operator (${error.message})`);
  } finally {
    clearInterval(renewing);
    second.value = null;
    await lab.value?.set({ replay_ms: 0, replay_events: 0 });
    learn({ asked: false });
  }
}

const toBeSeen = 3500; // milliseconds for what the map shows for a moment
const wholeReplay = 12_000; // milliseconds for all events, if they are many

function fail(error: unknown): void {
  problem.value = reasonOf(error);
}

async function run(what: () => Promise<unknown>): Promise<void> {
  const { step } = kept.peek();
  busy.value = true;
  problem.value = '';
  try {
    await what();
  } catch (error) {
    if (step === kept.peek().step) fail(error);
  }
  busy.value = false;
}

const restFor = 2500; // milliseconds
let rest = 0;

function go(step: number, open = true): void {
  batch(() => {
    kept.value = { step, open };
    facts.value = { since: performance.now() };
    problem.value = '';
    resting.value = false;
    asked.value = null; // what the map still shows of the step before
    if (step !== 2) notAdmin()?.problem('name', ''); // what was rejected in the second step is read in the third, too
  });
  clearTimeout(rest);
  keep(key, JSON.stringify(kept.peek()));
}

function skip(reason: string): void {
  const step = steps[kept.peek().step];
  if (!step) return;
  notes.value = [...notes.peek(), { name: step.name, text: `left out: ${reason}.`, skipped: true }];
  go(kept.peek().step + 1);
}

const shown = (): boolean =>
  kept.value.open && state.ready.value && ['chat', 'lab'].includes(state.view.value) && Boolean(writer()?.thread.value && reader()?.thread.value);

/** Goes on when the step has happened. */
effect(() => {
  const at = kept.value.step;
  const step = steps[at];
  if (!step || !shown() || resting.value) return;
  if (step.needsLab && !lab.value) return void queueMicrotask(() => step === steps[kept.peek().step] && skip('it needs the failure lab, which is off here (make run has it on)'));
  const text = step.seen();
  if (!text) return;
  queueMicrotask(() => {
    if (at !== kept.peek().step || resting.peek()) return;
    notes.value = [{ name: step.name, text, skipped: false }];
    resting.value = true;
    keep(key, JSON.stringify({ step: at + 1, open: true })); // after a reload it is done
    rest = setTimeout(() => go(at + 1), restFor);
  });
});

/** The event whose record is lost, until the projection knows of it. */
export const lostByTour = (): number => {
  const { hole = 0, came } = facts.value;
  return shown() && !came && hole > (reader()?.thread.value?.version ?? 0) ? hole : 0;
};

/** Sends the next message, whose record shows the projection that one is missing. */
export const findLost = (): void => {
  if (!busy.peek()) void run(fillHole);
};

/** The place on the map that the step is about. */
export const look = (): Place | undefined => (shown() ? steps[kept.value.step]?.place : undefined);

const lessons: Array<[string, string]> = [
  ['Write side', 'decides on commands, and keeps numbered events in the journal.'],
  ['Read side', 'has rows, made from the events, ready to be read.'],
  ['Eventual consistency', 'rows follow a little later; who has a token waits.'],
  ['Replay', 'all events are read again from event 1; rows can be thrown away.'],
  ['Exactly once', 'a command that is sent twice becomes one event, and an event that comes twice changes the rows once.'],
];

/** A text, in which the words between stars are strong. */
const strong = (text: string) => text.split('*').map((part, at) => (at % 2 ? <b key={at}>{part}</b> : part));

export function Tour() {
  if (!shown()) return null;
  const at = kept.value.step;
  const step = steps[at];
  const next = resting.value ? at + 1 : at;
  return (
    <section class="tour" aria-label="Tour">
      <ol aria-label="Steps">
        {steps.map(({ name }, each) => (
          <li key={name}>
            <button class="plain" aria-current={each === at ? 'step' : undefined} disabled={busy.value} onClick={() => ((notes.value = each === at ? notes.peek() : []), go(each))}>
              {name}
            </button>
          </li>
        ))}
      </ol>
      <div role="status">
        {notes.value.map((note) => (
          <p key={note.name} class={note.skipped ? 'skipped' : 'done'}>
            <b>
              {note.skipped ? '–' : '✓'} {note.name}:
            </b>{' '}
            {strong(note.text)}
          </p>
        ))}
        {step && !resting.value && (
          <p class="now">
            <b>
              {at + 1} of {steps.length} · {step.name}:
            </b>{' '}
            {strong(step.about())}
          </p>
        )}
        {problem.value && <p class="problem">It did not go as expected: {problem.value}</p>}
      </div>
      {!step && (
        <dl aria-label="What you have seen">
          {lessons.map(([name, text]) => (
            <div key={name}>
              <dt>{name}:</dt>{' '}
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      <span class="row">
        {!resting.value && step?.buttons().map(([name, what]) => (
          <button key={name} class="primary" disabled={busy.value} onClick={() => void run(what)}>
            {name}
          </button>
        ))}
        {!step && <button onClick={() => ((notes.value = []), go(0))}>Take it again</button>}
        <button class="plain" onClick={() => go(next, false)}>
          {step ? 'Leave the tour' : 'Close'}
        </button>
      </span>
    </section>
  );
}

/** Takes the tour up again. */
export function TourButton() {
  if (kept.value.open || !writer()?.thread.value) return null;
  const take = (): void => {
    location.hash = 'chat';
    notes.value = [];
    go(kept.peek().step);
  };
  return (
    <button class="plain" onClick={take}>
      Tour{kept.value.step > 0 && kept.value.step < steps.length && ` (${kept.value.step + 1} of ${steps.length})`}
    </button>
  );
}
