// The last events of the whole system, and one event in full: what it says, what caused it, what it led to, and the
// rows that it changed.
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { typeOf } from './application.ts';
import { copied, moment } from './common.tsx';
import { personOf, state } from './state.ts';
import { isAhead, placeOf, sameRequest, watched } from './watch.ts';
import { byProcess, sentence, words } from './words.ts';
import type { JournalEvent } from './words.ts';

const shown = 6;

const opened = signal<JournalEvent | null>(null);

export const open = (event: JournalEvent): void => {
  opened.value = event;
};

/** By which way an event came: a program's operation, or a process manager. */
const way = (event: JournalEvent): string => event.source.replace(/^write-api /, '').replace(/^\/\w+\//, '').replaceAll('_', ' ');

export function Everything() {
  const events = watched.events.value;
  if (!state.session.value.operator) return null;
  const ahead = events.filter(isAhead).length;
  const head = watched.head.value;
  return (
    <section class="everything" aria-label="In the whole system">
      <h3>
        In the whole system{' '}
        <small role="status">
          {!watched.live.value ? 'connecting …' : events.length === 0 ? 'waiting for an event of anybody' : `${head ? `the journal of all is at ${head.toLocaleString()}, ` : ''}${ahead === 0 ? 'all in the rows' : `${ahead} not in the rows yet`}`}
        </small>
      </h3>
      <ol class="tape">
        {events.slice(-shown).map((event) => (
          <li key={event.eventId} class={isAhead(event) ? 'ahead' : ''}>
            <Line event={event} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** An event in a line, which opens it. */
export function Line({ event }: { event: JournalEvent }) {
  return (
    <button class="event" onClick={() => open(event)}>
      <b dir="auto">
        {placeOf(event)} {event.seqNr}
      </b>{' '}
      {words(event.type)}{' '}
      <small>
        {personOf(event.executorId).name}, {way(event)}
      </small>
    </button>
  );
}

interface Row {
  table: string;
  key: string;
  row: unknown; // null: it may not be seen, or is gone
}

/** Reads the rows that an event changed, as they are now, by the queries that everybody has. */
async function readRows(event: JournalEvent): Promise<Row[]> {
  const viewer = state.session.peek().account ?? event.executorId;
  const changed = typeOf(event.aid)?.rows(event, viewer) ?? [];
  return Promise.all(
    changed.map(async ({ table, key, read }): Promise<Row> => {
      const found = await read().catch(() => null);
      return { table, key, row: found?.row ?? null };
    }),
  );
}

/** The event that is open. */
export function Opened() {
  const dialog = useRef<HTMLDialogElement>(null);
  const event = opened.value;
  const rows = useSignal<Row[] | null>(null);
  const request = useSignal<JournalEvent[]>([]);
  const said = useSignal('');
  const ahead = event ? watched.events.value.some((each) => each.eventId === event.eventId) && isAhead(event) : false;
  useEffect(() => {
    if (event && !dialog.current?.open) dialog.current?.showModal();
    if (!event && dialog.current?.open) dialog.current.close();
    said.value = '';
    request.value = [];
    if (event) void sameRequest(event).then((found) => opened.peek() === event && (request.value = found));
  }, [event?.eventId]);
  useEffect(() => {
    rows.value = null;
    if (event) void readRows(event).then((found) => opened.peek() === event && (rows.value = found));
  }, [event?.eventId, ahead]);
  const cause = event && request.value.find((each) => each.eventId === event.causationId);
  const led = request.value.filter((each) => each.causationId === event?.eventId);
  const close = (): void => {
    opened.value = null;
  };
  const copy = async (): Promise<void> => {
    said.value = await copied(JSON.stringify(event?.raw, null, 2), 'Copied');
  };
  return (
    <dialog ref={dialog} class="opened" onCancel={close} onClose={close} aria-label="Event">
      {event && (
        <>
          <h2 dir="auto">
            {placeOf(event)}, event {event.seqNr}
          </h2>
          <p dir="auto">{sentence(event)}</p>
          <dl>
            <Fact name="When">{moment(event.occurredAt)}</Fact>
            <Fact name="Who">{personOf(event.executorId).name}</Fact>
            <Fact name="Through">{event.source}</Fact>
            <Fact name="Command">{event.commandId}</Fact>
            <Fact name="Request">{event.correlationId}</Fact>
            <Fact name="Caused by">
              {cause ? <Line event={cause} /> : byProcess(event) ? `event ${event.causationId}` : event.commandId ? `the command of ${personOf(event.executorId).name}` : '—'}
            </Fact>
            {led.length > 0 && (
              <Fact name="Led to">
                {led.slice(0, 5).map((each) => <Line key={each.eventId} event={each} />)}
                {led.length > 5 && ` and ${led.length - 5} more`}
              </Fact>
            )}
          </dl>
          <h3>Rows that it changed, {ahead ? 'not there yet' : 'as they are now'}</h3>
          {rows.value === null ? (
            <p class="quiet">…</p>
          ) : (
            <ul class="rows">
              {rows.value.map(({ table, key, row }) => (
                <li key={table + key}>
                  <b>{table}</b> <small>{key}</small>
                  {row ? <pre tabIndex={0}>{JSON.stringify(row, null, 1)}</pre> : <p class="quiet">{ahead ? 'the projection has not seen the event' : 'gone, or this account may not see it'}</p>}
                </li>
              ))}
              {rows.value.length === 0 && <li class="quiet">none</li>}
            </ul>
          )}
          <h3>As {typeof event.raw === 'object' && event.raw && 'seqNr' in event.raw ? 'its history tells it' : 'the journal has it'}</h3>
          <pre tabIndex={0}>{JSON.stringify(event.raw, null, 2)}</pre>
          <div class="row">
            <button onClick={() => void copy()}>{said.value || 'Copy as JSON'}</button>
            <button class="primary" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
    </dialog>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
