// The failure lab: it breaks the running system, and compares what comes of it with what is promised. It is a script of
// its own, in the one program that has a lab. page is what it may use of the rest.
import { signal } from '@preact/signals';
import type { PageForLab } from '../../page/src/forlab.ts';

interface Faults {
  paused: boolean;
  dead: boolean;
  delivery: string;
  break_next: boolean;
  unreadable: number;
  delay_ms: number;
  lose_answer: boolean;
}

interface Experiment {
  name: string;
  about: string;
  promise: string;
  tests: string;
  on?: (faults: Faults) => boolean;
  steps: Array<{ button: string; when?: (faults: Faults) => boolean; run: (page: PageForLab) => Promise<string> }>;
}

const faults = signal<Faults | null>(null);
const busy = signal('');
const results = signal<Record<string, string>>({});

async function ask<T>(page: PageForLab, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(path, { ...init, headers: { 'Content-Type': 'application/json', ...page.headers() } });
  const answer = (await response.json()) as T & { detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? `${path} answers ${response.status}`);
  return answer;
}

async function set(page: PageForLab, change: Partial<Faults>): Promise<void> {
  faults.value = await ask<Faults>(page, '/lab/state', change);
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Waits until the pane shows a version. */
async function seen(page: PageForLab, version: number): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    if ((page.pane()?.version ?? 0) >= version) return true;
    await pause(50);
  }
  return false;
}

/** Compares every row with the journal. */
async function compared(page: PageForLab): Promise<string> {
  const found = await ask<{ verified: number; wrong: number }>(page, '/api/operate/rows/verify', { repair: false });
  return found.wrong === 0 ? `All rows of ${found.verified} aggregates are what the journal says.` : `The rows of ${found.wrong} aggregates differ!`;
}

async function figure(name: string): Promise<number> {
  const answer = (await (await fetch('/status')).json()) as { programs: Array<{ name: string; figures: Record<string, number> }> };
  return answer.programs.reduce((sum, program) => sum + (program.figures[name] ?? 0), 0);
}

const many = 20;

/** Sends messages while the source is bad, and then compares. The last one comes well: what was lost before it shows. */
async function badly(page: PageForLab, delivery: string, counter: string, counted: string): Promise<string> {
  const before = await figure(counter);
  await set(page, { delivery });
  let versions: number[];
  try {
    versions = await Promise.all(Array.from({ length: many }, (_, i) => page.post(`message ${i + 1} of ${many}`)));
    await pause(400); // for the source to deliver them
  } finally {
    await set(page, { delivery: '' });
  }
  const last = await page.post('and one that is delivered well');
  const shown = await seen(page, last);
  await pause(300); // for the figures, which are read four times a second
  const numbers = new Set(versions);
  return `${numbers.size} of ${many} messages have a number of their own; ${shown ? 'all are seen' : 'NOT all are seen'}. ${counted}: ${(await figure(counter)) - before}. ${await compared(page)}`;
}

const experiments: Experiment[] = [
  {
    name: 'Pause the projection',
    about: 'Commands go on; what they write is not seen. Messages stay grey until you resume.',
    promise: 'An acknowledged command is in the journal, whatever happens behind it (1).',
    tests: 'TestNothingIsLostOrDoubledByKills',
    on: (f) => f.paused,
    steps: [
      { button: 'Pause', when: (f) => !f.paused, run: async (page) => (await set(page, { paused: true }), 'Send a message: it stays grey.') },
      { button: 'Resume', when: (f) => f.paused, run: async (page) => (await set(page, { paused: false }), await pause(500), await compared(page)) },
    ],
  },
  {
    name: 'Kill the projection',
    about: 'It ends without a clean stop: the transaction in hand is rolled back, no position is written, and what it remembered is gone. The program around it lives on; the tests kill whole programs, too.',
    promise: 'Rows and position change together, so it goes on where the rows are (5).',
    tests: 'TestAKillRollsTheBatchInHandBack, TestKilledAgainAndAgain',
    on: (f) => f.dead,
    steps: [
      { button: 'Kill', when: (f) => !f.dead, run: async (page) => (await set(page, { dead: true }), 'It is dead. Send messages: they stay grey until you start it again.') },
      {
        button: 'Start again',
        when: (f) => f.dead,
        run: async (page) => {
          await set(page, { dead: false });
          for (let tries = 0; tries < 50; tries++) {
            await pause(200);
            try {
              return await compared(page);
            } catch {
              continue; // it is on its way
            }
          }
          return 'It has not come back.';
        },
      },
    ],
  },
  {
    name: 'Deliver events twice',
    about: `${many} messages, of which each event comes twice.`,
    promise: 'An event that is in the rows is left out when it comes again (4).',
    tests: 'TestContractOnSQLite, any delivery',
    steps: [{ button: 'Send messages twice', run: (page) => badly(page, 'twice', 'projection_duplicates_total', 'Duplicates left out') }],
  },
  {
    name: 'Deliver out of order',
    about: `${many} messages, whose events come shuffled.`,
    promise: 'Each thread keeps its order: a gap is filled from the journal (4).',
    tests: 'TestContractOnMySQL, any delivery',
    steps: [{ button: 'Shuffle messages', run: (page) => badly(page, 'reordered', 'projection_events_filled_total', 'Events read from the journal') }],
  },
  {
    name: 'Lose events',
    about: `${many} messages, of which about half never come.`,
    promise: 'The stream is a hint, the journal is the truth: what is missing is read from there (4).',
    tests: 'TestContractOnSQLite, loss',
    steps: [{ button: 'Lose messages', run: (page) => badly(page, 'lost', 'projection_events_filled_total', 'Events read from the journal') }],
  },
  {
    name: 'Make an event unreadable',
    about: 'The next event can be read by nobody, in the stream and in the journal.',
    promise: 'It parks its thread and nothing else, and is tried again (6).',
    tests: 'TestAnEventThatCannotBeReadParksItsThreadAlone',
    on: (f) => f.break_next || f.unreadable > 0,
    steps: [
      {
        button: 'Break the next event',
        when: (f) => !f.break_next && f.unreadable === 0,
        run: async (page) => {
          await set(page, { break_next: true });
          await page.post('nobody will read this');
          await pause(500);
          await set(page, {});
          return 'The thread is parked: see Operations. Other threads go on.';
        },
      },
      {
        button: 'Mend it',
        when: (f) => f.break_next || f.unreadable > 0,
        run: async (page) => {
          await set(page, { unreadable: 0, break_next: false });
          const { parked } = await ask<{ parked: Array<Record<string, unknown>> }>(page, '/api/operate/dead-letters');
          for (const { projection, tenant, aid } of parked) {
            // Its own retry may be faster: then this one is refused. What is left is asked below.
            await ask(page, '/api/operate/dead-letters/retry', { projection, tenant, aid }).catch(() => undefined);
          }
          for (let tries = 0; tries < 50; tries++) {
            await pause(200);
            const left = await ask<{ parked: unknown[] }>(page, '/api/operate/dead-letters');
            if (left.parked.length === 0) return `Nothing is parked any more. ${await compared(page)}`;
          }
          return 'It is still parked.';
        },
      },
    ],
  },
  {
    name: 'A second writer',
    about: 'Another write-api posts to the same thread at the same time; each makes the other one’s decisions outdated.',
    promise: 'Decisions are made on the latest state, or made again: every version is given once (2).',
    tests: 'TestTwoProcessesOnOneAggregate',
    steps: [
      {
        button: 'Write from both',
        run: async (page) => {
          const before = await figure('commands_conflicts_total');
          const pane = page.pane();
          const executor = page.withToken ? {} : { executor_id: pane?.viewer.id };
          const write = (i: number): Promise<{ version: number }> =>
            ask(page, '/lab/second-writer', { thread_id: pane?.selected, text: `from the second writer: ${i + 1}`, ...executor });
          const beside = Promise.allSettled(Array.from({ length: 10 }, (_, i) => write(i)));
          const own = await Promise.all(Array.from({ length: 10 }, (_, i) => page.post(`from this page: ${i + 1}`)));
          const written = (await beside).filter((each) => each.status === 'fulfilled').map((each) => each.value.version);
          const all = new Set([...own, ...written]);
          await seen(page, Math.max(...all));
          await pause(300);
          const conflicts = (await figure('commands_conflicts_total')) - before;
          return `${all.size} messages, ${all.size} versions, ${10 - written.length} refused; this page's writer decided ${conflicts} times again. ${await compared(page)}`;
        },
      },
    ],
  },
  {
    name: 'A slow event store',
    about: 'Each write waits a second and a half. Commands that arrive meanwhile share the next one.',
    promise: 'Slow is not wrong: a message is grey until it is written and seen (1).',
    tests: 'TestCommandsForOneAggregateShareWrites',
    on: (f) => f.delay_ms > 0,
    steps: [
      { button: 'Slow down', when: (f) => f.delay_ms === 0, run: async (page) => (await set(page, { delay_ms: 1500 }), 'Send messages as both people at once.') },
      { button: 'Full speed', when: (f) => f.delay_ms > 0, run: async (page) => (await set(page, { delay_ms: 0 }), await compared(page)) },
    ],
  },
  {
    name: 'Lose an answer',
    about: 'The next command is written, and its answer is lost. The page sends it again with the same key.',
    promise: 'A command is applied once, however often it is sent (1).',
    tests: 'TestALostAnswer',
    steps: [
      {
        button: 'Send, and lose the answer',
        run: async (page) => {
          await set(page, { lose_answer: true });
          const version = await page.post('sent twice, written once');
          await seen(page, version);
          await set(page, { lose_answer: false });
          return `It is event ${version}, once; the second answer repeated the first. ${await compared(page)}`;
        },
      },
    ],
  },
  {
    name: 'Rebuild the read model',
    about: 'All rows from the first event on, beside the live ones, which go on; then they change places.',
    promise: 'A reader never sees half of it (5).',
    tests: 'TestRebuildBesideTheLiveProjection',
    steps: [
      {
        button: 'Rebuild',
        run: async (page) => {
          await ask(page, '/api/operate/rows/rebuild', {});
          await pause(3000);
          const version = await page.post('written during the rebuild');
          return `${(await seen(page, version)) ? 'A message that was sent meanwhile is seen.' : 'A message that was sent meanwhile is NOT seen.'} ${await compared(page)}`;
        },
      },
    ],
  },
];

async function run(page: PageForLab, name: string, step: Experiment['steps'][number]): Promise<void> {
  const report = (text: string): void => {
    results.value = { ...results.peek(), [name]: text };
  };
  busy.value = name;
  report('');
  try {
    report(await step.run(page));
  } catch (error) {
    report(String(error instanceof Error ? error.message : error));
  }
  busy.value = '';
}

export function View({ page }: { page: PageForLab }) {
  const now = faults.value;
  if (!now) {
    void set(page, {});
    return <p class="card quiet">…</p>;
  }
  const ready = page.ready();
  return (
    <section class="card" aria-label="Failure lab">
      <h2>Break it, and see what holds</h2>
      <p class="quiet">
        These buttons break the system that is running here. Each says what is promised then (
        <a href="/lab/guarantees" target="_blank" rel="noreferrer">
          docs/guarantees.md
        </a>
        ) and which test holds it to that.
      </p>
      {!ready && <p class="notice">Open a thread in the chat first.</p>}
      <div class="faults">
        {experiments.map((each) => (
          <article key={each.name} class={`fault ${each.on?.(now) ? 'on' : ''}`} aria-label={each.name}>
            <h3>{each.name}</h3>
            <p>{each.about}</p>
            <div class="row">
              {each.steps.filter((step) => step.when?.(now) ?? true).map((step) => (
                <button key={step.button} disabled={busy.value !== '' || !ready} onClick={() => void run(page, each.name, step)}>
                  {step.button}
                </button>
              ))}
            </div>
            <p role="status" class="held">
              {busy.value === each.name ? 'Working …' : results.value[each.name]}
            </p>
            <p>
              {each.promise} <small>{each.tests}</small>
            </p>
          </article>
        ))}
      </div>
    </section>
  );
}
