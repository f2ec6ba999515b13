// The failure lab: what is broken, and how it is mended. It is a script of its own, in the one program that has a lab.
// page is what it may use of the rest. The experiments are another script, which comes when somebody opens them.
import { signal, useSignal } from '@preact/signals';
import type { Lab, PageForLab } from '../../page/src/chat/forlab.ts';
import type { Faults } from '../../page/src/requests.ts';

/** Something that was looked at. Not every one can contradict the promise. */
export type Check = [held: boolean | undefined, text: string];

export const faults = signal<Faults | null>(null);
export async function set(page: PageForLab, change: Partial<Faults>): Promise<void> {
  changes++;
  const found = await page.ask('POST /lab/state', change);
  changes++; // what was asked meanwhile may be older
  know(found);
}

let changes = 0;

function know(found: Faults): void {
  if (JSON.stringify(found) !== JSON.stringify(faults.peek())) faults.value = found;
}

/** Looks once a second what is broken: others can break it, too. */
async function watch(page: PageForLab): Promise<void> {
  for (;;) {
    const before = changes;
    const found = document.hidden ? null : await page.ask('GET /lab/state').catch(() => null);
    if (found && before === changes) know(found);
    await pause(1000);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Compares every row with the journal. */
export async function compared(page: PageForLab): Promise<Check> {
  const found = await page.ask('POST /operate/rows/verify', { repair: false });
  const of = (n: number): string => `${n} ${n === 1 ? 'aggregate' : 'aggregates'}`;
  if (found.wrong === 0 && !found.complete) return [undefined, `The rows of ${of(found.verified)} are what the journal says; there was no time to compare all.`];
  return [found.wrong === 0, found.wrong === 0 ? `All rows of ${of(found.verified)} are what the journal says.` : `The rows of ${of(found.wrong)} are NOT what the journal says.`];
}

/** Repairs what can't be read, and has what is parked tried again. */
export async function mendEvents(page: PageForLab): Promise<Check[]> {
  await set(page, { unreadable: 0, break_next: false });
  const { parked } = await page.ask('GET /operate/dead-letters');
  for (const { projection, tenant, aid } of parked) {
    // Its own retry may be faster: then this one is refused. What is left is asked below.
    await page.ask('POST /operate/dead-letters/retry', { projection, tenant, aid }).catch(() => undefined);
  }
  for (let tries = 0; tries < 50; tries++) {
    await pause(200);
    const left = await page.ask('GET /operate/dead-letters');
    if (left.parked.length === 0) return [[true, 'Nothing is parked any more.'], await compared(page)];
  }
  return [[false, 'It is STILL parked.']];
}

const deliveries: Record<string, string> = {
  twice: 'The stream delivers each event twice.',
  reordered: 'The stream delivers events out of order.',
  lost: 'The stream loses about half of the events.',
  none: 'The stream loses what is written now.',
  broken: 'What the stream delivers is damaged.',
};

/** What is broken, in words. */
function broken(now: Faults): string[] {
  const all: Array<[boolean, string | undefined]> = [
    [now.paused, 'The projection is paused: rows get no new events.'],
    [now.dead, 'The projection is killed: rows get no new events.'],
    [now.delivery !== '', deliveries[now.delivery]],
    [now.break_next || now.unreadable > 0, 'The projection can not read an event: its thread is parked.'],
    [now.delay_ms > 0, `Each write waits ${now.delay_ms / 1000} s.`],
    [now.hold_ms > 0, `Each batch of events waits ${now.hold_ms / 1000} s.`],
    [now.replay_ms > 0, `A rebuild waits ${now.replay_ms / 1000} s after each ${now.replay_events > 1 ? `${now.replay_events} events` : 'event'}.`],
    [now.lose_answer, 'The answer of the next write gets lost.'],
  ];
  return all.flatMap(([is, text]) => (is && text ? [text] : []));
}

async function mendAll(page: PageForLab): Promise<void> {
  const unreadable = (faults.peek()?.unreadable ?? 0) > 0;
  await set(page, { paused: false, dead: false, delivery: '', break_next: false, unreadable: 0, delay_ms: 0, hold_ms: 0, replay_ms: 0, replay_events: 0, lose_answer: false });
  if (unreadable) await mendEvents(page);
}

function Banner({ page, lost, find }: { page: PageForLab; lost: number; find: () => void }) {
  const now = faults.value;
  const problem = useSignal('');
  const texts = now ? broken(now) : [];
  const missing = lost > 0 && !now?.delivery;
  if (missing) texts.push(`The stream has lost event ${lost}.`);
  const slow = texts.length === 1 && ((now?.hold_ms ?? 0) > 0 || (now?.replay_ms ?? 0) > 0); // and that is all
  const mend = async (): Promise<void> => {
    try {
      await mendAll(page);
      problem.value = '';
      if (missing) find();
    } catch (error) {
      problem.value = String(error);
    }
  };
  return (
    <div role="status" class={texts.length > 0 ? 'banner' : 'hidden'} aria-label="Broken on purpose">
      {texts.length > 0 && (
        <>
          <span>
            <b>{slow ? 'Slow, to be seen:' : 'Broken on purpose:'}</b> {texts.join(' ')} {problem.value && <span class="problem">{problem.value}</span>}
          </span>
          <button onClick={() => void mend()}>{slow ? 'Full speed' : missing && texts.length === 1 ? 'Send the next one' : 'Mend all'}</button>
        </>
      )}
    </div>
  );
}

/** The lab of a page. */
export function open(page: PageForLab): Lab {
  void watch(page);
  const newRows: Lab['newRows'] = (thread) => page.ask('GET /lab/new-rows', undefined, `?${new URLSearchParams({ thread })}`);
  return { faults, set: (change) => set(page, change), newRows, View: () => <View page={page} />, Banner: (props) => <Banner page={page} {...props} /> };
}

const isMissing = signal(false); // the experiments could not be loaded
const experiments = signal<typeof import('./experiments.tsx').Experiments | null>(null);

async function load(): Promise<void> {
  const script = '/lab/experiments.js';
  experiments.value = ((await import(script)) as typeof import('./experiments.tsx')).Experiments;
}

function View({ page }: { page: PageForLab }) {
  const now = faults.value;
  if (!experiments.value) load().catch(() => (isMissing.value = true));
  if (!experiments.value || !now) return <p class="card quiet">{isMissing.value ? 'The experiments can not be loaded. Load the page again.' : '…'}</p>;
  return <experiments.value page={page} now={now} />;
}
