// How the programs are, and what an operator can do about it.
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask, Refusal } from './api.ts';
import { app } from './application.ts';
import type { View } from './application.ts';
import { sure } from './common.tsx';
import { Lag, lagInWords } from './flow.tsx';
import { inNumbers, rebuild } from './rebuild.ts';
import type { Letter, ProgramStatus, Requests, Verification } from './requests.ts';
import { state } from './state.ts';
import { programOf, quantile, rate } from './status.ts';
import { watched } from './watch.ts';
import { counted } from './words.ts';

const known = {
  letters: signal<Letter[]>([]),
  unlisted: signal(''), // why the letters can't be listed
  problem: signal(''), // of the last order
  said: signal(''),
  busy: signal(''),
  verification: signal<Verification | null>(null),
};

/** Asks the updater. What goes wrong is said on the page. */
async function operate<R extends keyof Requests>(request: R, body?: Requests[R]['body']): Promise<Requests[R]['answer'] | null> {
  try {
    const answer = await ask(request, body);
    known.problem.value = '';
    return answer;
  } catch (error) {
    known.problem.value = reasonOf(error);
    return null;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Refusal ? error.message : 'The read-model-updater can not be reached.');

function load(): void {
  known.problem.value = '';
  app().load?.();
}

async function loadLetters(): Promise<void> {
  try {
    known.letters.value = (await ask('GET /operate/dead-letters')).parked;
    known.unlisted.value = '';
  } catch (error) {
    known.unlisted.value = reasonOf(error);
  }
}

type Skip = 'POST /operate/dead-letters/skip';

async function act(name: 'retry' | 'skip', which: Requests[Skip]['body'], said: string): Promise<void> {
  known.busy.value = name;
  known.said.value = '';
  const answer = await operate(`POST /operate/dead-letters/${name}`, which);
  known.busy.value = '';
  known.said.value = answer ? said : '';
  await loadLetters();
}

async function verify(repair: boolean): Promise<void> {
  known.busy.value = 'verify';
  known.said.value = '';
  known.verification.value = await operate('POST /operate/rows/verify', { repair });
  known.busy.value = '';
}

/** Has the rows rebuilt, and says what becomes of it. */
async function startRebuild(): Promise<void> {
  known.busy.value = 'rebuild';
  known.said.value = '';
  try {
    const { text } = await rebuild((now) => void (known.said.value = now ? 'The rebuild is running.' : 'A rebuild is asked for: it begins in a moment.'));
    known.said.value = text;
    known.problem.value = '';
  } catch (error) {
    known.said.value = '';
    known.problem.value = reasonOf(error);
  }
  known.busy.value = '';
}

function Operations() {
  const { Section } = app();
  return (
    <div class="operate">
      <section class="card wide" aria-label="Programs">
        <h2>Programs</h2>
        <div class="programs">{state.status.value.map((program) => <Program key={program.name} program={program} />)}</div>
        <Lag />
      </section>
      {state.session.value.operator && <Orders />}
      {Section && <Section />}
    </div>
  );
}

export const operations: View = { id: 'operations', name: 'Operations', Body: Operations, opened: load };

/** What operators can do; others are not shown what the programs would refuse. */
function Orders() {
  const parked = programOf('read-model-updater')?.health?.parked_aggregates;
  useEffect(() => void loadLetters(), [parked]);
  return (
    <>
      <section class="card" aria-label="Parked aggregates">
        <h2>Parked</h2>
        <p class="quiet">An event that can't be projected parks its aggregate, and nothing else. It is tried again by itself.</p>
        {(known.problem.value || known.unlisted.value) && <p class="problem" role="alert">{known.problem.value || known.unlisted.value}</p>}
        {known.letters.value.length === 0 ? (
          <p>Nothing is parked.</p>
        ) : (
          <ul class="letters">
            {known.letters.value.map((letter) => (
              <Parked key={`${letter.projection} ${letter.tenant} ${letter.aid}`} letter={letter} />
            ))}
          </ul>
        )}
      </section>
      <section class="card" aria-label="Read model">
        <h2>Read model</h2>
        <p class="quiet">The rows are made from the journal, and can be rebuilt from it at any time while everybody goes on.</p>
        <div class="row">
          <button disabled={known.busy.value !== ''} onClick={() => void startRebuild()}>
            Rebuild
          </button>
          <button disabled={known.busy.value !== ''} onClick={() => void verify(false)}>
            Verify
          </button>
          <button disabled={known.busy.value !== ''} onClick={() => void verify(true)}>
            Verify and repair
          </button>
        </div>
        <p role="status">{known.said.value || (known.busy.value && 'Working …')}</p>
        <Rebuild />
        {known.verification.value && <Verified found={known.verification.value} />}
      </section>
    </>
  );
}

const ms = (value: number | undefined): string => (value === undefined ? '–' : value === Infinity ? 'over 10 s' : `${value < 1 ? value.toFixed(1) : value.toFixed(0)} ms`);

/** The figures of the last ten seconds. Quantiles are bounds of a histogram's buckets. */
function figures({ name, figures: now, health }: ProgramStatus): Array<[string, string]> {
  const spread = (histogram: string): string => `${ms(quantile(name, histogram, 0.5))}, ${ms(quantile(name, histogram, 0.99))}`;
  const requests = 'http_request_duration_seconds';
  const lines: Array<[string, string]> = [];
  if (name === 'write-api') {
    lines.push(['commands a second', rate(name, 'commands_total').toFixed(1)], ['p50, p99 at most', spread(requests)]);
    lines.push(['conflicts', `${now.commands_conflicts_total ?? 0}`]);
  } else if (name === 'read-api') {
    lines.push(['queries a second', rate(name, `${requests}_bucket:+Inf`).toFixed(1)], ['p50, p99 at most', spread(requests)]);
    lines.push(['subscribers', `${now.subscribers ?? 0}`]);
  } else {
    const head = watched.head.value;
    const behind = health?.behind_records ?? 0;
    lines.push(['events a second', rate(name, 'projection_events_applied_total', 'projection_events_filled_total').toFixed(1)]);
    lines.push(['batches, p50, p99 at most', spread('projection_batch_duration_seconds')]);
    if (head && !health?.behind_at_least) lines.push(['journal at, rows at', `${head.toLocaleString()}, ${(head - behind).toLocaleString()}`]);
  }
  if (now.process_resident_memory_bytes) lines.push(['memory', `${(now.process_resident_memory_bytes / (1 << 20)).toFixed(0)} MiB`]);
  return lines;
}

function Program({ program }: { program: ProgramStatus }) {
  const health = program.up ? program.health : undefined; // what was known of a dead program is not so any more
  const good = health?.status === 'ready';
  const counted = program.up && Object.keys(program.figures).length > 0;
  const lines = counted ? figures(program) : [];
  if (health?.behind_seconds !== undefined) lines.push(['behind', lagInWords(health.behind_seconds * 1000, health.behind_records, health.behind_at_least)]);
  if (typeof health?.parked_aggregates === 'number') lines.push(['parked', String(health.parked_aggregates)]);
  if (health?.drifted_aggregates !== undefined) lines.push(['rows unlike the journal', String(health.drifted_aggregates)]);
  if (health?.active !== undefined) lines.push(['writes the rows', health.active ? 'yes' : 'no, it stands by']);
  return (
    <article>
      <h3>
        <span class={`light ${good ? (health.active === false ? 'idle' : 'good') : 'bad'}`} aria-hidden="true" /> {program.name}
      </h3>
      <p>{program.up ? (health?.status ?? 'no health') : 'does not answer'}</p>
      {health?.reason && <p class="problem">{health.reason}</p>}
      <dl>
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {program.up && !counted && (
        <p class="notice">
          Its figures are missing: <code>METRICS_ADDR</code> has moved its metrics to another address. Start it without, and they are here.
        </p>
      )}
      {health?.warnings?.map((warning) => <p key={warning} class="notice">{warning}</p>)}
    </article>
  );
}

function Parked({ letter }: { letter: Letter }) {
  const reason = useSignal('');
  const which = { projection: letter.projection, tenant: letter.tenant, aid: letter.aid };
  const skip = async (): Promise<void> => {
    if (!(await sure(`Leave event ${letter.seq_nr} of ${letter.aid} out of the rows?`, 'Leave the event out'))) return;
    void act('skip', { ...which, seq_nr: letter.seq_nr, reason: reason.peek() }, 'The event is left out.');
  };
  return (
    <li>
      <b>{letter.aid}</b> on event {letter.seq_nr} <small>({letter.projection}, {counted(letter.attempts, 'attempt')})</small>
      <p class="quiet">{letter.reason}</p>
      <div class="row">
        <button onClick={() => void act('retry', which, 'It is due, and tried again within a second.')}>Retry</button>
        <label class="grow">
          <span class="hidden">Why the event is left out</span>
          <input
            placeholder="Reason to skip the event"
            value={reason.value}
            onInput={(event) => (reason.value = event.currentTarget.value)}
          />
        </label>
        <button
          class="danger"
          disabled={!reason.value.trim()}
          onClick={skip}
        >
          Skip
        </button>
      </div>
    </li>
  );
}

function Rebuild() {
  const found = programOf('read-model-updater')?.health?.rebuild;
  if (!found) return null;
  return (
    <p>
      {inNumbers(found)} {found.failure && <span class="problem">It has stopped: {found.failure}</span>}
      <progress max={found.events_total || 1} value={found.events} aria-label="Rebuild" />
    </p>
  );
}

function Verified({ found }: { found: Verification }) {
  return (
    <>
      <p role="status">
        {counted(found.verified, 'aggregate')} compared with the journal: {found.wrong === 0 ? 'all is well.' : `${counted(found.wrong, 'differs', 'differ')}, ${found.repaired} repaired.`}{' '}
        {!found.complete && <span class="problem">There are more than can be compared in the time of a request: threadctl rows verify compares all.</span>}
      </p>
      <ul>
        {found.differences.map((each) => (
          <li key={`${each.aid} ${each.row} ${each.what}`}>
            {each.aid}: {each.row}: {each.what}, expected {each.expected}, found {each.found}
          </li>
        ))}
      </ul>
    </>
  );
}
