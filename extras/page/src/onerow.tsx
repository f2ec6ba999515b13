// Aggregates whose read side is one row. Their map follows whichever of them changed last.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { query } from './api.ts';
import { app, typeOf } from './application.ts';
import type { Aggregate, RowQuery } from './application.ts';
import { follow } from './live.ts';
import { cards, Sides, useDrawn } from './map.tsx';
import { aggregateName, state } from './state.ts';
import type { Trace } from './state.ts';
import { arrived } from './traces.ts';
import { keyOf, search, watched } from './watch.ts';
import type { Fields, JournalEvent } from './words.ts';

type Row = Fields & { version: number };

/** Describes such a type of aggregates: its table, and how its row is read and followed. */
export function oneRow(type: string, table: string, row: RowQuery, changed: RowQuery): Aggregate {
  return {
    type, table, changed,
    rows: ({ aid }, viewer) => [{ table, key: idOf(aid), read: () => query(row, { key: idOf(aid), viewer }) }],
    name: async (aid) => {
      if (!state.session.peek().operator) return '';
      const named = (await search({ aid, limit: 100 })).events.find(({ data }) => typeof (data as Fields).name === 'string');
      return String((named?.data as Fields | undefined)?.name ?? '');
    },
  };
}

const idOf = (aid: string): string => aid.slice(aid.lastIndexOf('-') + 1);

export const withOneRow = (): Aggregate[] => app().aggregates.filter(({ changed }) => changed);

interface Chosen {
  aid: string;
  tenant: string;
  viewer: string;
}

/** The last aggregate that this page was told of; or that of its own command, if that is looked at, or nothing is told. */
function chosen(trace: Trace | undefined): Chosen | undefined {
  const account = state.session.value.account;
  const last = watched.events.value.findLast((event) => typeOf(event.aid)?.changed);
  const sent = (trace?.aggregate ? [trace] : state.traces.value).find(({ aggregate = '' }) => typeOf(aggregate)?.changed);
  if (sent?.aggregate && (!last || state.trace.value || last.aid === sent.aggregate)) return { aid: sent.aggregate, tenant: '', viewer: account ?? sent.executorId };
  return last && { aid: last.aid, tenant: last.tenant, viewer: account ?? last.executorId };
}

const row = signal<Row | null>(null); // null: it is not known
const journal = signal<JournalEvent[]>([]);

/** Follows a row. It may not be there yet: then it asks again. */
function followRow({ aid, viewer }: Chosen): () => void {
  let stop = (): void => undefined;
  let waiting = 0;
  let wait = 100; // milliseconds
  const changed = typeOf(aid)?.changed;
  if (!changed) return stop;
  const begin = (): void => {
    stop = follow(
      changed, { key: idOf(aid), viewer },
      (pushed) => {
        row.value = pushed.row as Row;
        arrived(aid, pushed.row.version, pushed);
      },
      () => {
        row.value = null;
        waiting = setTimeout(begin, wait);
        wait = Math.min(wait * 2, 10_000);
      },
    );
  };
  begin();
  return () => (stop(), clearTimeout(waiting));
}

async function readJournal({ aid, tenant }: Chosen): Promise<JournalEvent[]> {
  if (!state.session.peek().operator) return [];
  const found = await search({ aid, tenant, limit: cards }).catch(() => null);
  return (found?.events ?? []).reverse();
}

export function RowMap({ trace }: { trace: Trace | undefined }) {
  const shown = chosen(trace);
  useEffect(() => {
    row.value = null;
    return shown && followRow(shown);
  }, [shown?.aid, shown?.viewer]);
  useEffect(() => {
    journal.value = [];
    let mine = true;
    if (shown) void readJournal(shown).then((events) => mine && (journal.value = events));
    return () => void (mine = false);
  }, [shown?.aid, shown?.tenant]);
  return shown ? <MapOf key={shown.aid} shown={shown} trace={trace} /> : null;
}

const none: Row = { version: 0 };

function MapOf({ shown, trace }: { shown: Chosen; trace: Trace | undefined }) {
  const { aid } = shown;
  const { now, before } = useDrawn(aid, row.value ?? none, trace);
  const version = now === (row.value ?? none) ? Math.max(now.version, watched.rows.value[keyOf(shown)] ?? 0) : now.version;
  return (
    <Sides of={{ key: aid, aid, name: aggregateName(aid), version, journal: journal.value.filter((event) => event.aid === aid) }}>
      <OneRow table={typeOf(aid)?.table ?? ''} now={now} before={before} />
    </Sides>
  );
}

/** The row, with what the last event has changed. */
function OneRow({ table, now, before }: { table: string; now: Row; before: Row | null }) {
  return (
    <table class="texts">
      <caption>{table}</caption>
      <tbody>
        {now.version > 0 ? (
          Object.entries(now).map(([field, value]) => {
            const changed = before !== null && before.version > 0 && before[field] !== value;
            return (
              <tr key={changed ? `${field} ${now.version}` : field} class={changed ? 'lit' : ''}>
                <td>{field}</td>
                <td dir="auto">{String(value)}</td>
              </tr>
            );
          })
        ) : (
          <tr>
            <td class="quiet">no row yet, or this account may not see it</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
