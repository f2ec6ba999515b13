// How the programs are, and what an operator can do about it.
import { csrf } from './api.ts';
import * as tasks from './tasks.tsx';
import { Fragment, h } from './view.ts';
import type { Child } from './view.ts';
import { change, state } from './state.ts';
import type { Pane, ProgramStatus } from './state.ts';

interface Letter {
  projection: string;
  tenant: string;
  aid: string;
  seq_nr: number;
  reason: string;
  attempts: number;
  parked_at: string;
}

interface Verification {
  verified: number;
  wrong: number;
  repaired: number;
  differences: Array<{ aid: string; row: string; what: string; expected: string; found: string }>;
}

const known = {
  letters: [] as Letter[],
  problem: '',
  said: '',
  busy: '',
  verification: null as Verification | null,
  reasons: {} as Record<string, string>,
};

async function operate<T>(path: string, body?: Record<string, unknown>): Promise<T | null> {
  const init: RequestInit = body
    ? { method: 'POST', headers: { 'Content-Type': 'application/json', ...csrf() }, body: JSON.stringify(body) }
    : { headers: csrf() };
  try {
    const response = await fetch(`/api/operate${path}`, init);
    const answer = (await response.json()) as T & { detail?: string };
    change(() => (known.problem = response.ok ? '' : (answer.detail ?? `the updater answers ${response.status}`)));
    return response.ok ? answer : null;
  } catch {
    change(() => (known.problem = 'The read-model-updater can not be reached.'));
    return null;
  }
}

export async function load(pane?: Pane): Promise<void> {
  void tasks.load(pane);
  await loadLetters();
}

async function loadLetters(): Promise<void> {
  const found = await operate<{ parked: Letter[] }>('/dead-letters');
  if (found) change(() => (known.letters = found.parked));
}

async function act(name: string, path: string, body: Record<string, unknown>, said: (answer: Record<string, unknown>) => string): Promise<void> {
  change(() => Object.assign(known, { busy: name, said: '' }));
  const answer = await operate<Record<string, unknown>>(path, body);
  change(() => Object.assign(known, { busy: '', said: answer ? said(answer) : '' }));
  await loadLetters();
}

async function verify(repair: boolean): Promise<void> {
  change(() => Object.assign(known, { busy: 'verify', said: '' }));
  const found = await operate<Verification>('/rows/verify', { repair });
  change(() => Object.assign(known, { busy: '', verification: found }));
}

export function Operations(): Child {
  return (
    <div class="operate">
      <section class="card wide" aria-label="Programs">
        <h2>Programs</h2>
        <div class="programs">{state.status.map((program) => <Program program={program} />)}</div>
      </section>
      <section class="card" aria-label="Parked aggregates">
        <h2>Parked</h2>
        <p class="quiet">An event that can't be projected parks its aggregate, and nothing else. It is tried again by itself.</p>
        {known.problem && <p class="problem" role="alert">{known.problem}</p>}
        {known.letters.length === 0 ? <p>Nothing is parked.</p> : <ul class="letters">{known.letters.map((letter) => <Parked letter={letter} />)}</ul>}
      </section>
      <section class="card" aria-label="Read model">
        <h2>Read model</h2>
        <p class="quiet">The rows are made from the journal, and can be rebuilt from it at any time while everybody goes on.</p>
        <div class="row">
          <button disabled={known.busy !== ''} onClick={() => void act('rebuild', '/rows/rebuild', {}, () => 'The rebuild has begun.')}>
            Rebuild
          </button>
          <button disabled={known.busy !== ''} onClick={() => void verify(false)}>
            Verify
          </button>
          <button disabled={known.busy !== ''} onClick={() => void verify(true)}>
            Verify and repair
          </button>
        </div>
        <p role="status">{known.busy ? 'Working …' : known.said}</p>
        <Rebuild />
        {known.verification && <Verified found={known.verification} />}
      </section>
      <tasks.Tasks />
    </div>
  );
}

function Program({ program }: { program: ProgramStatus }): Child {
  const health = program.health;
  const good = health?.status === 'ready';
  const lines: Array<[string, string]> = [];
  if (health?.behind_seconds !== undefined) lines.push(['behind', `${(health.behind_seconds * 1000).toFixed(0)} ms, ${health.behind_records} events`]);
  if (typeof health?.parked_aggregates === 'number') lines.push(['parked', String(health.parked_aggregates)]);
  if (health?.drifted_aggregates !== undefined) lines.push(['rows unlike the journal', String(health.drifted_aggregates)]);
  if (health?.active !== undefined) lines.push(['writes the rows', health.active ? 'yes' : 'no, it stands by']);
  return (
    <article key={program.name}>
      <h3>
        <span class={`light ${good ? 'good' : 'bad'}`} aria-hidden="true" /> {program.name}
      </h3>
      <p>{program.up ? (health?.status ?? 'no health') : 'does not answer'}</p>
      {health?.reason && <p class="problem">{health.reason}</p>}
      <dl>
        {lines.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {health?.warnings?.map((warning) => <p class="notice">{warning}</p>)}
    </article>
  );
}

function Parked({ letter }: { letter: Letter }): Child {
  const key = `${letter.projection} ${letter.tenant} ${letter.aid}`;
  const which = { projection: letter.projection, tenant: letter.tenant, aid: letter.aid };
  return (
    <li key={key}>
      <b>{letter.aid}</b> on event {letter.seq_nr} <small>({letter.projection}, {letter.attempts} attempts)</small>
      <p class="quiet">{letter.reason}</p>
      <div class="row">
        <button onClick={() => void act('retry', '/dead-letters/retry', which, () => 'It is due, and tried again within a second.')}>Retry</button>
        <label class="grow">
          <span class="hidden">Why the event is left out</span>
          <input
            placeholder="Reason to skip the event"
            value={known.reasons[key] ?? ''}
            onInput={(event: Event) => change(() => (known.reasons[key] = (event.target as HTMLInputElement).value))}
          />
        </label>
        <button
          class="danger"
          disabled={!known.reasons[key]?.trim()}
          onClick={() => void act('skip', '/dead-letters/skip', { ...which, seq_nr: letter.seq_nr, reason: known.reasons[key] }, () => 'The event is left out.')}
        >
          Skip
        </button>
      </div>
    </li>
  );
}

function Rebuild(): Child {
  const rebuild = state.status.find((each) => each.name === 'read-model-updater')?.health?.rebuild;
  if (!rebuild) return null;
  return (
    <p>
      {rebuild.phase}: {rebuild.events} of {rebuild.events_total} events
      <progress max={rebuild.events_total || 1} value={String(rebuild.events)} aria-label="Rebuild" />
    </p>
  );
}

function Verified({ found }: { found: Verification }): Child {
  return (
    <>
      <p role="status">
        {found.verified} aggregates compared with the journal: {found.wrong === 0 ? 'all is well.' : `${found.wrong} differ, ${found.repaired} repaired.`}
      </p>
      <ul>
        {found.differences.map((each) => (
          <li>
            {each.aid}: {each.row}: {each.what}, expected {each.expected}, found {each.found}
          </li>
        ))}
      </ul>
    </>
  );
}
