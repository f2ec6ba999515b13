// The way of each command through the system, as this page sees it: times are measured here, JSON is what came over the
// wire, figures are those of the programs' metrics.
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Everything } from './feed.tsx';
import { brake, drawnStage, firstShown, replay, setSpeed, slowness, speeds } from './slow.ts';
import { state } from './state.ts';
import type { Sample, Trace } from './state.ts';
import { isAtEnd, programOf } from './status.ts';
import { isLost } from './traces.ts';
import { isAhead, watched } from './watch.ts';
import { inTime } from './words.ts';

interface Station {
  name: string;
  x: number; // where it is on the rail, in percent: the stream is between the sides
  about: string;
  at: (trace: Trace) => string; // what is known of its time
  json: (trace: Trace) => unknown;
}

const stations: Station[] = [
  {
    name: 'Command',
    x: 0,
    about: 'What somebody wants, sent to the write-api by REST.',
    at: (trace) =>
      trace.stage === 'invalid' ? 'refused by the write-api, before any aggregate' : trace.attempts > 1 ? `sent ${trace.attempts} times, with one key` : 'sent at 0 ms',
    json: (trace) => ({
      POST: trace.path, 'Idempotency-Key': trace.key, body: trace.body, ...(trace.stage === 'invalid' ? { answer: trace.answer } : {}),
    }),
  },
  {
    name: 'Aggregate',
    x: 17,
    about: 'Decides on the latest state: an event, or a rejection.',
    at: (trace) => {
      if (trace.stage === 'invalid') return '';
      if (trace.stage === 'unknown') return 'no answer yet';
      if (trace.answeredAt === undefined) return trace.version === undefined ? '…' : 'decided, its answer is on its way';
      return `${trace.stage === 'rejected' ? 'rejected' : 'decided'}, the answer came after ${inTime(trace.answeredAt - trace.sentAt)}`;
    },
    json: (trace) => (trace.stage === 'invalid' ? undefined : trace.answer),
  },
  {
    name: 'Journal',
    x: 34,
    about: 'Keeps every event, numbered without gaps. It is the truth.',
    at: (trace) => (trace.version === undefined ? '' : `event ${trace.version} is written, before the answer`),
    json: (trace) => trace.event ?? (trace.version === undefined ? undefined : { aggregate: trace.aggregate, seq_nr: trace.version, token: trace.token }),
  },
  {
    name: 'Stream',
    x: 50,
    about: 'Tells the projection that there is something new. Only a hint: it may lose, repeat and reorder.',
    at: (trace) => (isLost(trace) ? 'the record is lost' : waiting(trace)),
    json: (trace) => (trace.version === undefined ? undefined : figuresOf('read-model-updater', /^(queue|stream)_/)),
  },
  {
    name: 'Projection',
    x: 75,
    about: 'Brings events into the rows of the read model, each once and in order.',
    at: (trace) => (isLost(trace) ? 'does not know of it' : waiting(trace)),
    json: (trace) => (trace.version === undefined ? undefined : figuresOf('read-model-updater', /^projection_(events|dupl|lag)/)),
  },
  {
    name: 'Query',
    x: 100,
    about: 'The read-api pushes what has changed to every subscriber.',
    at: (trace) => seenAfter(trace),
    json: (trace) => trace.pushed,
  },
];

function waiting(trace: Trace): string {
  if (trace.version === undefined) return '';
  return trace.visibleAt === undefined ? 'on its way' : 'passed';
}

/** Stream, projection and query together. All times count from the sending. */
function seenAfter(trace: Trace): string {
  if (trace.visibleAt === undefined) return '';
  if (trace.visibleAt < trace.sentAt) return 'seen before it was sent again';
  const early = trace.visibleAt < (trace.answeredAt ?? Infinity);
  return `seen after ${inTime(trace.visibleAt - trace.sentAt)}${early ? ': the rows do not wait for the answer' : ''}`;
}

function figuresOf(program: string, names: RegExp): unknown {
  const figures = state.status.value.find((each) => each.name === program)?.figures ?? {};
  return { 'of all aggregates': Object.fromEntries(Object.entries(figures).filter(([name]) => names.test(name))) };
}

/** How far a command has got, as the number of a station. */
const progress: Record<Trace['stage'], number> = { sent: 0.5, unknown: 0.5, invalid: 0.5, rejected: 1, written: 3, visible: 5 };

interface FlowProps {
  Map: ComponentType<{ trace: Trace | undefined }>;
  hint: string; // while no command was sent
}

export function Flow({ Map, hint }: FlowProps) {
  const traces = state.traces.value;
  const trace = traces.find((each) => each.key === state.trace.value) ?? traces[0];
  return (
    <section class="card flow" aria-label="Live flow">
      <h2>The way of a command</h2>
      <Speed trace={trace} />
      <div class="plan">
        <Picture trace={trace} />
        <Map trace={trace} />
      </div>
      <Traces chosen={trace} />
      {trace ? <Stations trace={trace} /> : <p class="quiet">{hint}</p>}
      <section class="whole" aria-label="All aggregates">
        <h2>All threads and accounts together</h2>
        <Everything />
        <Lag />
      </section>
    </section>
  );
}

function Picture({ trace }: { trace: Trace | undefined }) {
  const now = performance.now();
  const reached = trace ? progress[drawnStage(trace)] : -1;
  const stopped = brake.value?.stopped() ?? '';
  const about = stations.find(({ name }) => name === state.station.value)?.about;
  const moving = state.traces.value.filter((each) => each === trace || now - (each.visibleAt ?? each.answeredAt ?? now) < 4000);
  return (
    <div class="picture">
      <h3>Write side</h3>
      <h3>Read side</h3>
      <div class="rail" aria-hidden="true">
        {moving.map((each) => (
          <Dot key={each.key} trace={each} chosen={each === trace} />
        ))}
      </div>
      <ol>
        {stations.map((station, at) => (
          <li key={station.name} style={`--x: ${station.x / 100}`}>
            <button
              class={`station ${reached >= at ? 'reached' : ''} ${station.name === 'Projection' && stopped ? 'stopped' : ''}`}
              aria-pressed={state.station.value === station.name}
              title={station.about}
              onClick={() => (state.station.value = state.station.value === station.name ? '' : station.name)}
            >
              {station.name}
              {station.name === 'Projection' && stopped && <em>{stopped}</em>}
            </button>
          </li>
        ))}
      </ol>
      {about && <p role="status">{about}</p>}
    </div>
  );
}

function place(stage: Trace['stage']): string {
  const at = progress[stage];
  const [from, to] = [stations[Math.floor(at)], stations[Math.ceil(at)]]; // the same one, or those that it is between
  return `${((from?.x ?? 0) + (to?.x ?? 0)) / 2}%`;
}

/** A dot is where its command is, never behind it: only its trail takes time. In slow motion it moves in its command's time. */
function Dot({ trace, chosen }: { trace: Trace; chosen: boolean }) {
  const dot = useRef<HTMLSpanElement>(null);
  const replayed = replay.value?.key === trace.key ? replay.value : null;
  const replaying = replayed !== null;
  useLayoutEffect(() => {
    if (!replayed || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const { written, whole } = replayed;
    dot.current?.animate([{ left: '0%' }, { left: place('written'), offset: whole > 0 ? written / whole : 0 }, { left: place('visible') }], { duration: whole });
  }, [replaying]);
  const stage = drawnStage(trace);
  const first = useRef(stage).current; // where it was when it came into view
  return (
    <>
      {stage !== first && <span key={stage} class="trail" style={{ width: place(stage) }} />}
      <span ref={dot} class={`dot ${stage} ${chosen ? 'chosen' : ''}`} style={{ left: place(stage) }} />
    </>
  );
}

function Speed({ trace }: { trace: Trace | undefined }) {
  const slow = slowness.value;
  const hold = brake.value?.ms() ?? 0;
  const pressed = hold > 0 && slow === 1 ? 0 : slow; // somebody else slows it down
  return (
    <div class="row speed" role="group" aria-label="Slow motion">
      <span aria-hidden="true">Slow motion</span>
      {speeds.map((each) => (
        <button key={each} aria-pressed={pressed === each} onClick={() => void setSpeed(each).catch(() => undefined)}>
          {each}×
        </button>
      ))}
      <small>{hold > 0 ? `Slow for real: the projection holds each batch of events for ${hold / 1000} s.` : speedInWords(slow, trace)}</small>
    </div>
  );
}

function speedInWords(slow: number, trace: Trace | undefined): string {
  const took = trace?.visibleAt === undefined ? 0 : trace.visibleAt - trace.sentAt;
  if (firstShown.value) return 'That was 100× slower. Now it is fast again: see one at 10×, or once more at 100×.';
  if (slow === 1) return 'A dot is where its command is; the trail behind it shows the way.';
  return `The next one is drawn ${slow} times slower${took ? `: ${inTime(took)} would take ${inTime(took * slow)}` : ''}. Numbers are the real ones.`;
}

function Traces({ chosen }: { chosen: Trace | undefined }) {
  return (
    <ol class="traces" aria-label="The last commands">
      {state.traces.value.slice(0, 4).map((trace) => (
        <li key={trace.key}>
          <button
            class={`trace ${trace.stage}`}
            aria-pressed={trace === chosen}
            onClick={() => (state.trace.value = trace === state.traces.value[0] ? '' : trace.key)}
          >
            <b>{trace.executor}</b> {trace.path.split('/')[2]?.replaceAll('_', ' ')} <small>{told(trace)}</small>
          </button>
        </li>
      ))}
    </ol>
  );
}

function told(trace: Trace): string {
  switch (trace.stage) {
    case 'sent':
      return 'sent';
    case 'unknown':
      return 'no answer yet, sent again';
    case 'invalid':
      return `not a command: ${(trace.answer as { code?: string } | undefined)?.code ?? 'refused'}`;
    case 'rejected':
      return (trace.answer as { code?: string } | undefined)?.code ?? 'rejected';
    case 'written':
      return `event ${trace.version}, not seen yet`;
    case 'visible':
      return trace.replayed ? `sent again: both times event ${trace.version}` : `event ${trace.version}, seen after ${inTime((trace.visibleAt ?? 0) - trace.sentAt)}`;
  }
}

function Stations({ trace }: { trace: Trace }) {
  return (
    <ol class="stations">
      {stations.map((station) => {
        const at = station.at(trace);
        const json = station.json(trace);
        const open = state.station.value === station.name;
        return (
          <li key={station.name} class={at ? 'reached' : ''}>
            <div>
              <b>{station.name}</b> <small>{at || '—'}</small>
            </div>
            {open && json !== undefined && <pre tabIndex={0}>{JSON.stringify(json, null, 2)}</pre>}
          </li>
        );
      })}
    </ol>
  );
}

/** A lag in milliseconds and events. */
export const lagInWords = (lag: number, records = 0, atLeast = false): string => `${atLeast ? 'at least ' : ''}${inTime(lag)}, ${records} ${records === 1 ? 'event' : 'events'}`;

const width = 480;
const height = 84;

/** The lag of the last minute, and what the programs count. */
export function Lag() {
  const samples = state.samples.value;
  const now = samples.at(-1)?.at ?? performance.now();
  const seen = state.traces.value.filter((trace) => trace.visibleAt !== undefined && now - trace.visibleAt < 60_000);
  const latency = (trace: Trace): number => Math.max(0, (trace.visibleAt ?? 0) - trace.sentAt);
  const top = Math.max(20, ...samples.map((sample) => sample.lag), ...seen.map(latency));
  const x = (at: number): number => width - ((now - at) / 60_000) * width;
  const y = (value: number): number => height - 4 - (value / top) * (height - 16);
  const line = (list: Sample[]): string => list.map((sample) => `${x(sample.at).toFixed(1)},${y(sample.lag).toFixed(1)}`).join(' ');
  const last = samples.at(-1);
  const unknown = state.traces.value.some(isLost) || watched.events.value.some(isAhead);
  const dead = programOf('read-model-updater')?.up === false;
  const told = last ? (isAtEnd(last) ? (unknown ? 'none that it knows of' : 'none') : lagInWords(last.lag, last.records, last.atLeast)) : '…';
  return (
    <figure class="lag">
      <figcaption>
        Lag of the projection now: <b>{dead ? 'unknown: the read-model-updater does not answer' : told}</b>.
        {seen.length > 0 && ' Dots: how long commands of the last minute took to be seen.'}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Lag over the last minute, at most ${top.toFixed(0)} milliseconds`}>
        <line x1="0" x2={width} y1={y(0)} y2={y(0)} class="axis" />
        <line x1="0" x2={width} y1={y(top)} y2={y(top)} class="axis faint" />
        <text x="2" y={y(top) + 10}>{inTime(top)}</text>
        <polyline points={line(samples)} class="line" />
        {seen.map((trace) => (
          <circle key={trace.key} cx={x(trace.visibleAt ?? 0)} cy={y(latency(trace))} r="3">
            <title>{`event ${trace.version}: seen after ${inTime(latency(trace))}`}</title>
          </circle>
        ))}
      </svg>
      <Counts />
    </figure>
  );
}

function Counts() {
  const updater = programOf('read-model-updater')?.figures ?? {};
  const writer = programOf('write-api')?.figures ?? {};
  const count = (of: Record<string, number>, name: string): number | string => of[name] ?? '–'; // unknown: see the operations
  const events = (updater.projection_events_applied_total ?? NaN) + (updater.projection_events_filled_total ?? 0);
  const shown: Array<[string, number | string]> = [
    ['commands', count(writer, 'commands_total')],
    ['rejected', writer.commands_total === undefined ? '–' : writer.commands_refused_total ?? 0],
    ['conflicts', count(writer, 'commands_conflicts_total')],
    ['events projected', Number.isNaN(events) ? '–' : events],
    ['duplicates', count(updater, 'projection_duplicates_total')],
  ];
  return (
    <dl class="counts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
