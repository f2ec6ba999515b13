// The experiments of the failure lab: each breaks the running system, and compares what comes of it with what is promised.
import { signal } from '@preact/signals';
import type { PageForLab } from '../../page/src/chat/forlab.ts';
import type { Faults, MessageAnswer, PostMessage, ProgramStatus } from '../../page/src/requests.ts';
import { compared, faults, mendEvents, pause, set } from '/lab/lab.js';
import type { Check } from '/lab/lab.js';

interface Experiment {
  name: string;
  about: string; // what is broken
  promise: string;
  tests: string;
  on?: (faults: Faults) => boolean;
  anyTime?: boolean; // also while the projection stands still
  steps: Array<{ button: string; when?: (faults: Faults) => boolean; run: (page: PageForLab, tell: (text: string) => void) => Promise<Check[]> }>;
}

interface Result {
  before: string;
  observed: Check[];
  unfinished: boolean; // its second step was not made yet
}

const busy = signal('');
const results = signal<Record<string, Result>>({});

/** Waits until the pane shows a version. */
async function seen(page: PageForLab, version: number): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    if ((page.pane()?.version ?? 0) >= version) return true;
    await pause(50);
  }
  return false;
}

/** What a comparison says before an experiment, when something else may be broken. */
const comparable = (page: PageForLab): Promise<string> =>
  compared(page).then(([, text]) => text, (error: Error) => `The rows can not be compared with the journal: ${error.message}.`);

const programs = async (page: PageForLab): Promise<ProgramStatus[]> => (await page.ask('GET /status')).programs;

/** Waits until the projection has read the stream to its end. */
async function caughtUp(page: PageForLab): Promise<Check> {
  for (let tries = 0; tries < 60; tries++) {
    const updater = (await programs(page)).find((each) => each.name === 'read-model-updater');
    if (updater?.up && updater.health?.status === 'ready' && updater.health.behind_records === 0 && !updater.health.behind_at_least) return [true, 'The projection has caught up.'];
    await pause(300);
  }
  return [false, 'The projection has NOT caught up.'];
}

/** Lets the projection go on: what was written meanwhile comes to the rows. */
async function goOn(page: PageForLab, change: Partial<Faults>): Promise<Check[]> {
  const waiting = page.waiting();
  await set(page, change);
  const shown = await seen(page, waiting);
  const observed: Check[] = [await caughtUp(page), await compared(page)];
  if (waiting === 0) return [...observed, [undefined, 'But nothing was written meanwhile: send a message the next time.']];
  return [[shown, `Event ${waiting}, which was written meanwhile, is ${shown ? '' : 'NOT '}in the rows.`], ...observed];
}

async function figure(page: PageForLab, name: string): Promise<number> {
  return (await programs(page)).reduce((sum, program) => sum + (program.figures[name] ?? 0), 0);
}

const many = 20;

const toBeSeen = 3500; // milliseconds

/** Has an event lost for sure, and holds the projection before it looks for it: people can see the hole in the rows. It returns what ends that. */
async function leaveAHole(page: PageForLab): Promise<() => Promise<void>> {
  const held = faults.peek()?.hold_ms ?? 0;
  await set(page, { delivery: 'none' });
  await page.post('and one that is lost for sure');
  await pause(toBeSeen);
  await set(page, { delivery: '', hold_ms: toBeSeen });
  return () => set(page, { hold_ms: held });
}

/** Sends messages while the source is bad, and then compares. The last one comes well: what was lost before it shows. */
async function badly(page: PageForLab, delivery: string, counter: string, counted: string, atOnce = false): Promise<Check[]> {
  const before = await figure(page, counter);
  await set(page, { delivery });
  const versions: number[] = [];
  let release = async (): Promise<void> => {};
  try {
    const posts = Array.from({ length: many }, (_, i) => async () => versions.push(await page.post(`message ${i + 1} of ${many}`)));
    if (atOnce) await Promise.all(posts.map((post) => post()));
    else for (const post of posts) await post();
    await pause(400); // for the source to deliver them
    if (delivery === 'lost') release = await leaveAHole(page);
  } finally {
    await set(page, { delivery: '' });
  }
  const last = await page.post('and one that is delivered well');
  const shown = await seen(page, last);
  await release();
  await pause(300); // for the figures, which are read four times a second
  const numbers = new Set(versions).size;
  const count = (await figure(page, counter)) - before;
  return [
    [count > 0 || (delivery === 'reordered' ? undefined : false), `${counted}: ${count}.`], // a batch is put into order before gaps are looked for
    [numbers === many, `${numbers} of ${many} messages have a number of their own.`],
    [shown, shown ? 'All are seen.' : 'NOT all are seen.'],
    await compared(page),
  ];
}

const seeds = 10_000; // events that the thread has at least before it is rebuilt
const atOnce = 1000; // messages of a request

/** Posts messages until the thread has enough events for a rebuild that can be seen. */
async function seed(page: PageForLab, tell: (text: string) => void): Promise<Check> {
  const pane = page.pane();
  const had = pane?.version ?? 0;
  const message = { thread_id: pane?.selected ?? '', ...(page.withToken ? {} : { executor_id: pane?.viewer.id ?? '' }) };
  const begun = performance.now();
  for (let at = had; at < seeds; at += atOnce) {
    tell(`Posting messages: the thread has ${at.toLocaleString()} of ${seeds.toLocaleString()} events …`);
    await page.ask('POST /lab/seed', { message, first: at + 1, count: Math.min(atOnce, seeds - at) });
  }
  const took = ((performance.now() - begun) / 1000).toFixed(1);
  tell('Waiting for the rows …');
  const [held] = await caughtUp(page);
  if (!held || !(await seen(page, seeds))) return [false, 'The messages are NOT in the rows.'];
  return [undefined, had < seeds ? `${(seeds - had).toLocaleString()} messages were posted in ${took} s.` : `The thread had ${had.toLocaleString()} events.`];
}

const wholeReplay = 8000; // milliseconds that the events of the thread are read for
const part = 100; // events
const slowest = 800; // milliseconds that a part may take

/** Rebuilds the rows, and looks at the second set of tables while it fills; meanwhile a message is posted, and read. */
async function rebuild(page: PageForLab, tell: (text: string) => void): Promise<Check[]> {
  const seeded = await seed(page, tell);
  const { version = 0, selected = '' } = page.pane() ?? {};
  const slow = { replay_ms: Math.min(slowest, Math.ceil((wholeReplay * part) / version)), replay_events: part };
  const fillings: number[] = []; // the versions that the thread was seen to have in the second set
  const slower = { ...slow, replay_ms: slowest }; // until all is seen that is to be seen, however seldom this page can look
  let [message, posted, pace]: [Promise<Check> | undefined, boolean, typeof slow] = [undefined, false, slower];
  const meanwhile: Parameters<PageForLab['rebuild']>[0] = (now, second) => {
    if (now) tell(`${now.phase}: ${now.events.toLocaleString()} of ${now.events_total.toLocaleString()} events. Second set: event ${(second?.version ?? 0).toLocaleString()}; live set: event ${page.pane()?.version.toLocaleString()}.`);
    if (second?.version && second.version !== fillings.at(-1)) fillings.push(second.version);
    if (!message && second?.version) {
      message = postMeanwhile(page, selected).finally(() => (posted = true));
      message.catch(() => undefined); // it is told at the end
    }
    if (posted && fillings.length > 2 && pace === slower) void set(page, (pace = slow)).catch(() => undefined);
  };
  await set(page, slower);
  const renewing = setInterval(() => faults.peek()?.replay_ms && void set(page, pace).catch(() => undefined), 3000); // the lab ends it otherwise
  try {
    const { ended, seen: running, text } = await page.rebuild(meanwhile);
    const filled = running !== undefined && fillings.length > 2;
    return [
      seeded,
      [filled, filled ? `The second set of tables was seen to fill, at ${fillings.length} times from event ${fillings[0]?.toLocaleString()} to event ${fillings.at(-1)?.toLocaleString()}.` : 'The second set of tables was NOT seen to fill.'],
      message ? await message : [false, 'The rebuild was over before a message could be posted.'],
      [ended, text],
      await compared(page),
    ];
  } finally {
    clearInterval(renewing);
    await set(page, { replay_ms: 0, replay_events: 0 });
  }
}

/** Posts a message, which must be read while the second set does not have it. */
async function postMeanwhile(page: PageForLab, thread: string): Promise<Check> {
  const sent = performance.now();
  const posted = await page.post('written during the rebuild');
  const read = await seen(page, posted);
  const took = (performance.now() - sent).toFixed(0);
  const then = await page.ask('GET /lab/new-rows', undefined, `?${new URLSearchParams({ thread })}`);
  const beside = read && then.made && then.version < posted;
  return [beside, `A message that was posted meanwhile is event ${posted.toLocaleString()}; it was ${beside ? '' : 'NOT '}read ${took} ms later, when the second set had event ${then.version.toLocaleString()}.`];
}

const slowness = 1500; // milliseconds
let written: Check = [undefined, ''];

/** Posts a message while each write waits. */
async function slowly(page: PageForLab): Promise<Check[]> {
  await set(page, { delay_ms: slowness });
  const sent = performance.now();
  const version = await page.post('written slowly');
  const took = performance.now() - sent;
  written = [took >= slowness, `Event ${version} was acknowledged after ${(took / 1000).toFixed(1)} s, when it was written.`];
  return [written, [undefined, 'Send messages as both people at once, if you like.']];
}

const experiments: Experiment[] = [
  {
    name: 'Pause the projection',
    about: 'Commands go on; what they write is not seen. Messages stay grey until you resume.',
    promise: 'An acknowledged command is in the journal, whatever happens behind it (promise 1).',
    tests: 'TestNothingIsLostOrDoubledByKills',
    on: (f) => f.paused,
    steps: [
      { button: 'Pause', when: (f) => !f.paused, run: async (page) => (await set(page, { paused: true }), [[undefined, 'Send a message: it stays grey. Then resume.']]) },
      { button: 'Resume', when: (f) => f.paused, run: (page) => goOn(page, { paused: false }) },
    ],
  },
  {
    name: 'Kill the projection',
    about: 'It ends without a clean stop: the transaction in hand is rolled back, no position is written, and what it remembered is gone. The program around it lives on; the tests kill whole programs, too.',
    promise: 'Rows and position change together, so it goes on where the rows are (promise 5).',
    tests: 'TestAKillRollsTheBatchInHandBack, TestKilledAgainAndAgain',
    on: (f) => f.dead,
    anyTime: true,
    steps: [
      { button: 'Kill', when: (f) => !f.dead, run: async (page) => (await set(page, { dead: true }), [[undefined, 'It is dead. Send messages: they stay grey until you start it again.']]) },
      { button: 'Start again', when: (f) => f.dead, run: (page) => goOn(page, { dead: false }) },
    ],
  },
  {
    name: 'Deliver events twice',
    about: `${many} messages, of which each event comes twice, and one that is delivered well.`,
    promise: 'An event that is in the rows is left out when it comes again (promise 4).',
    tests: 'TestContractOnSQLite, any delivery',
    steps: [{ button: 'Send, and deliver twice', run: (page) => badly(page, 'twice', 'projection_duplicates_total', 'Duplicates left out') }],
  },
  {
    name: 'Deliver out of order',
    about: `${many} messages, sent at the same moment, whose events come shuffled, and one that is delivered well.`,
    promise: 'Each thread keeps the order in which its commands were decided: a gap is filled from the journal (promise 4).',
    tests: 'TestContractOnMySQL, any delivery',
    steps: [{ button: 'Send, and shuffle', run: (page) => badly(page, 'reordered', 'projection_events_filled_total', 'Events read from the journal', true) }],
  },
  {
    name: 'Lose events',
    about: `${many} messages, of which about half never come, and one more: its hole can be seen for a while.`,
    promise: 'The stream is a hint, the journal is the truth: what is missing is read from there (promise 4).',
    tests: 'TestContractOnSQLite, loss',
    steps: [{ button: 'Send, and lose', run: (page) => badly(page, 'lost', 'projection_events_filled_total', 'Events read from the journal') }],
  },
  {
    name: 'Make an event unreadable',
    about: 'A message is sent whose event the projection can not read, in the stream and in the journal.',
    promise: 'It parks its thread and nothing else, and is tried again (promise 6).',
    tests: 'TestAnEventThatCannotBeReadParksItsThreadAlone',
    on: (f) => f.break_next || f.unreadable > 0,
    steps: [
      {
        button: 'Break the next event',
        when: (f) => !f.break_next && f.unreadable === 0,
        run: async (page) => {
          await set(page, { break_next: true });
          await page.post('nobody will read this');
          for (let tries = 0; tries < 50; tries++) {
            const { parked } = await page.ask('GET /operate/dead-letters');
            await set(page, {});
            if (parked.length > 0) return [[true, `${parked.length === 1 ? 'The thread is' : `${parked.length} aggregates are`} parked: see Operations.`], [undefined, 'Then mend it.']];
            await pause(200);
          }
          return [[false, 'The thread is NOT parked.']];
        },
      },
      {
        button: 'Mend it',
        when: (f) => f.break_next || f.unreadable > 0,
        run: mendEvents,
      },
    ],
  },
  {
    name: 'A second writer',
    about: 'Another write-api posts to the same thread at the same time; each makes the other one’s decisions outdated.',
    promise: 'Decisions are made on the latest state, or made again: every version is given once (promise 2).',
    tests: 'TestTwoProcessesOnOneAggregate',
    steps: [
      {
        button: 'Write from both',
        run: async (page) => {
          const before = await figure(page, 'commands_conflicts_total');
          const pane = page.pane();
          const body = { thread_id: pane?.selected ?? '', ...(page.withToken ? {} : { executor_id: pane?.viewer.id }) } as PostMessage;
          const write = (i: number): Promise<MessageAnswer> => page.ask('POST /lab/second-writer', { ...body, text: `from the second writer: ${i + 1}` });
          const beside = Promise.allSettled(Array.from({ length: 10 }, (_, i) => write(i)));
          const own = await Promise.all(Array.from({ length: 10 }, (_, i) => page.post(`from this page: ${i + 1}`)));
          const outcomes = await beside;
          const written = outcomes.filter((each) => each.status === 'fulfilled').map((each) => each.value.version);
          const failure = outcomes.find((each) => each.status === 'rejected');
          const why = failure ? `: ${failure.reason instanceof Error ? failure.reason.message : String(failure.reason)}` : '';
          const all = new Set([...own, ...written]);
          await seen(page, Math.max(...all));
          await pause(300);
          const conflicts = (await figure(page, 'commands_conflicts_total')) - before;
          return [
            [written.length === 10 && all.size === 20, `${own.length + written.length} messages, ${all.size} versions, ${10 - written.length} not written${why}.`],
            [undefined, `This page's writer decided ${conflicts === 1 ? 'once' : `${conflicts} times`} again.`],
            await compared(page),
          ];
        },
      },
    ],
  },
  {
    name: 'A slow event store',
    about: 'Each write waits a second and a half. Commands that arrive meanwhile share the next one.',
    promise: 'Slow is not wrong: a message is grey until it is written and seen (promise 1).',
    tests: 'TestCommandsForOneAggregateShareWrites',
    on: (f) => f.delay_ms > 0,
    anyTime: true,
    steps: [
      { button: 'Slow down', when: (f) => f.delay_ms === 0, run: slowly },
      { button: 'Full speed', when: (f) => f.delay_ms > 0, run: async (page) => (await set(page, { delay_ms: 0 }), [written, await caughtUp(page), await compared(page)]) },
    ],
  },
  {
    name: 'Lose an answer',
    about: 'The next command is written, and its answer is lost. The page sends it again with the same key.',
    promise: 'A command is applied once, however often it is sent (promise 1).',
    tests: 'TestALostAnswer',
    steps: [
      {
        button: 'Send, and lose the answer',
        run: async (page) => {
          await set(page, { lose_answer: true });
          const version = await page.post('sent twice, written once');
          const attempts = page.attempts();
          const shown = await seen(page, version);
          await set(page, { lose_answer: false });
          const next = await page.post('the next one');
          return [
            [attempts > 1, `It was ${attempts > 1 ? `sent ${attempts} times` : 'NOT sent again'}.`],
            [shown, `It is event ${version}${shown ? ', and seen' : ', and NOT seen'}.`],
            [next === version + 1, `The next one is event ${next}: it was ${next === version + 1 ? '' : 'NOT '}written once.`],
            await compared(page),
          ];
        },
      },
    ],
  },
  {
    name: 'Rebuild the read model',
    about: `The open thread gets ${seeds.toLocaleString()} events, if it has fewer: that takes some seconds. Then all rows are made from the first event on, beside the live ones, which go on: slowly, so that the map can show it. Then they change places.`,
    promise: 'A reader never sees half of it (promise 5).',
    tests: 'TestRebuildBesideTheLiveProjection',
    steps: [{ button: 'Rebuild', run: rebuild }],
  },
];

const progress = signal(''); // of the experiment that runs

async function run(page: PageForLab, { name, steps, on }: Experiment, step: Experiment['steps'][number]): Promise<void> {
  const report = (before: string, observed: Check[], unfinished = false): void => {
    results.value = { ...results.peek(), [name]: { before, observed, unfinished } };
  };
  busy.value = name;
  let before = results.peek()[name]?.before ?? '';
  try {
    // The second step of an experiment ends what the first one began.
    if (step === steps[0] || !before) {
      const broken = faults.peek() && on?.(faults.peek() as Faults);
      report('', []);
      before = `The open thread shows event ${page.pane()?.version}. ${broken ? '' : await comparable(page)}`;
    }
    report(before, []);
    report(before, await step.run(page, (text) => (progress.value = text)), steps.length > 1 && step === steps[0]);
  } catch (error) {
    report(before, [[false, `It could not be observed: ${error instanceof Error ? error.message : String(error)}`]]);
  }
  busy.value = progress.value = '';
}

export function Experiments({ page, now }: { page: PageForLab; now: Faults }) {
  const ready = page.ready();
  return (
    <section class="card" aria-label="Failure lab">
      <h2>Break it, and see what holds</h2>
      <p class="quiet">
        Each experiment breaks the system that is running here, and compares what it observes with what is promised (
        <a href="/lab/guarantees" target="_blank" rel="noreferrer">
          docs/guarantees.md
        </a>
        ). The tests beside it hold the system to that.
      </p>
      {!ready && <p class="notice">Open a thread in the chat first.</p>}
      <div class="faults">
        {experiments.map((each) => (
          <Card key={each.name} page={page} experiment={each} now={now} ready={ready} />
        ))}
      </div>
    </section>
  );
}

const verdict = (checks: Check[]): boolean | undefined =>
  checks.some(([held]) => held === false) ? false : checks.at(-1)?.[0] === undefined ? undefined : true;

const Observed = ({ checks }: { checks: Check[] }) => (
  <>
    {checks.map(([held, text]) => (
      <span key={text} class={held === false ? 'observed failed' : held ? 'observed' : ''}>
        {text}{' '}
      </span>
    ))}
  </>
);

function Card({ page, experiment, now, ready }: { page: PageForLab; experiment: Experiment; now: Faults; ready: boolean }) {
  const { name, about, promise, tests } = experiment;
  const on = experiment.on?.(now) ?? false;
  const kept = results.value[name];
  const mended = kept?.unfinished && !on && busy.value !== name; // by another button
  const result: Result | undefined = kept && mended ? { ...kept, observed: [[undefined, 'It was mended from elsewhere: nothing was compared.']] } : kept;
  const stands = !on && !experiment.anyTime && (now.paused || now.dead); // there would be nothing to observe
  const held = on ? undefined : verdict(result?.observed ?? []);
  const failed = verdict(result?.observed ?? []) === false;
  return (
    <article class={`fault ${on ? 'on' : ''}`} aria-label={name}>
      <h3>
        {name} {(held || failed) && busy.value !== name && <span class={`verdict ${failed ? 'failed' : ''}`}>{failed ? 'not held' : 'held'}</span>}
      </h3>
      <dl>
        {result?.before && (
          <>
            <dt>Before</dt>
            <dd>{result.before}</dd>
          </>
        )}
        <dt>The break</dt>
        <dd>{about}</dd>
        <dt>Expected</dt>
        <dd>
          {promise} <small>{tests}</small>
        </dd>
        <dt class={result || stands ? '' : 'hidden'}>Observed</dt>
        <dd>
          {stands && 'The projection stands still: let it go on first. '}
          <span role="status">{busy.value === name ? progress.value || 'Working …' : <Observed checks={result?.observed ?? []} />}</span>
        </dd>
      </dl>
      <div class="row">
        {experiment.steps.filter((step) => step.when?.(now) ?? true).map((step) => (
          <button key={step.button} disabled={busy.value !== '' || !ready || stands} onClick={() => void run(page, experiment, step)}>
            {step.button}
          </button>
        ))}
      </div>
    </article>
  );
}
