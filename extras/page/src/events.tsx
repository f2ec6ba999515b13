// Every event of the whole journal, the latest first: by aggregate, type, request, person and time, or as they come.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { app } from './application.ts';
import type { View } from './application.ts';
import { copied, moment, titled } from './common.tsx';
import { open } from './feed.tsx';
import { eventNames } from './requests.ts';
import { learned, personOf, state } from './state.ts';
import { isAhead, kept, placeOf, search, watched } from './watch.ts';
import type { Next } from './watch.ts';
import { counted, reasonOf, sentence } from './words.ts';
import type { JournalEvent } from './words.ts';

const none = { tenant: '', aid: '', type: '', executor: '', correlation: '', since: '', until: '' };
type Wanted = typeof none;

const wanted = signal<Wanted>(none);
const following = signal(true);
const page = {
  events: signal<JournalEvent[]>([]),
  next: signal<Next | null>(null),
  busy: signal(false),
  problem: signal(''),
  said: signal(''),
  told: signal(0), // how many events had been told when these were read
};

const pageSize = 100;

let asking = 0;
let searched = none; // what the events that are shown were searched by

/** Reads a page: the latest events, or those after the ones that are shown. */
async function load(more: boolean): Promise<void> {
  const mine = ++asking;
  const told = watched.told.peek();
  page.busy.value = true;
  page.said.value = '';
  if (!more) searched = wanted.peek();
  const { since, until, aid, executor, ...rest } = searched;
  const time = (local: string): string => (local ? new Date(local).toISOString() : '');
  try {
    const [found = '', another] = aidsOf(aid);
    if (another) throw new Error(`Several are called "${aid.trim()}": give an id.`);
    const asked = { ...rest, aid: found, executor: personId(executor), since: time(since), until: time(until) };
    if (asked.aid && !/^[a-z]+-./.test(asked.aid)) throw new Error(`No ${usual()} of the name "${aid.trim()}" was shown here yet: give its id.`);
    const next = (more && page.next.peek()) || 0;
    const read = await search({ ...asked, limit: pageSize, [typeof next === 'string' ? 'after' : 'before']: next });
    if (mine !== asking) return;
    const all = more ? [...page.events.peek(), ...read.events] : read.events;
    page.events.value = typeof next === 'string' ? all.sort((a, b) => (a.occurredAt < b.occurredAt ? 1 : -1)) : all;
    page.next.value = read.next;
    page.problem.value = '';
    if (!more) {
      watched.missed.value = false;
      page.told.value = told;
    }
  } catch (error) {
    if (mine !== asking) return;
    page.problem.value = reasonOf(error);
    if (!more) [page.events.value, page.next.value] = [[], null];
  } finally {
    if (mine === asking) page.busy.value = false;
  }
}

/** The usual type of aggregates: their ids are written with it, or without. */
const usual = (): string => app().aggregates.at(-1)?.type ?? 'aggregate';

/** The ids of the aggregates whose name the page has learned; else what was typed, which may be an id. */
function aidsOf(text: string): string[] {
  const name = text.trim();
  if (/^[0-9A-Z]{26}$/i.test(name)) return [`${usual()}-${name.toUpperCase()}`];
  const called = Object.keys(learned.peek()).filter((each) => name && learned.peek()[each]?.toLowerCase() === name.toLowerCase());
  return called.length > 0 ? called : [name];
}

/** The id of somebody whose name the page has learned; else what was typed, which may be an id. */
function personId(text: string): string {
  const name = text.trim().toLowerCase();
  const aid = Object.keys(learned.peek()).find((each) => each.startsWith('account-') && learned.peek()[each]?.toLowerCase() === name);
  return state.people.peek().find((person) => person.name.toLowerCase() === name)?.id ?? aid?.replace('account-', '') ?? text.trim();
}

/** Shows the events that match. */
export function browse(changed: Partial<Wanted> = {}): void {
  wanted.value = { ...none, ...changed };
  location.hash = 'events';
  void load(false);
}

/** New events come to the top, if they match and somebody follows. */
function fresh(): JournalEvent[] {
  const { tenant, aid, type, executor, correlation, since, until } = wanted.value;
  const last = page.events.value[0]?.occurredAt ?? '';
  if (!following.value || until) return [];
  const known = new Set(page.events.value.map((event) => event.eventId));
  return watched.events.value
    .filter((event) => !known.has(event.eventId) && event.occurredAt >= last && (!since || new Date(event.occurredAt) >= new Date(since)))
    .filter((event) => (!aid || (aidsOf(aid).includes(event.aid) && event.tenant === tenant)) && (!type || event.type === type))
    .filter((event) => (!executor || event.executorId === personId(executor)) && (!correlation || event.correlationId === correlation))
    .reverse();
}

const narrow = matchMedia('(max-width: 44rem)').matches; // a phone, which shows the events first

function Events() {
  const ordered = watched.ordered.value;
  useEffect(() => {
    if (ordered && page.events.peek().length <= pageSize) void load(false); // who has gone further back stays there
  }, [watched.begun.value]);
  const events = [...fresh(), ...page.events.value];
  const head = watched.head.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    void load(false);
  };
  const copy = async (): Promise<void> => {
    const all = events.map(({ tenant, aid, seqNr, position, raw }) => ({ tenant, aid, seq_nr: seqNr, position, event: raw }));
    page.said.value = await copied(JSON.stringify(all, null, 2), `${counted(events.length, 'event is', 'events are')} copied.`);
  };
  return (
    <section class="card browser" aria-label="All events">
      <h2>
        All events <small>{head ? `the journal of all aggregates is at ${head.toLocaleString()}; each one counts its own events, too` : ''}</small>
      </h2>
      <details open={!narrow}>
        <summary>Filter</summary>
        <form class="filter" onSubmit={submit}>
          <Filter name="aid" label={`${titled(usual())} or aggregate`} placeholder="name or id" />
          <label>
            <span>Type</span>
            <select value={wanted.value.type} onChange={(event) => set('type', event.currentTarget.value)}>
              <option value="">all</option>
              {[...new Set([...app().aggregates.toReversed().flatMap(({ type }) => eventNames[type] ?? []), ...events.map((event) => event.type)])].map((type) => <option key={type}>{type}</option>)}
            </select>
          </label>
          <Filter name="executor" label="Person" placeholder="name or account id" />
          <Filter name="correlation" label="Request" placeholder="correlation id" />
          <Filter name="tenant" label="Tenant" placeholder="of the aggregate" disabled={!wanted.value.aid} />
          <Filter name="since" label="From" />
          <Filter name="until" label="To" />
          <div class="row">
            <button class="primary">Find</button>
            <button type="button" onClick={() => browse()}>
              All
            </button>
            <label class="check">
              <input type="checkbox" checked={following.value} onChange={(event) => (following.value = event.currentTarget.checked)} /> Follow
            </label>
            <button type="button" disabled={events.length === 0} onClick={() => void copy()}>
              Copy as JSON
            </button>
          </div>
        </form>
      </details>
      {ordered === false && (
        <p class="notice">
          This event store keeps no order of all events. New ones are shown as they come. <i>Find</i> reads up to 100,000 events of the journal at a
          time, in no order; those of one aggregate it reads from the latest back.
        </p>
      )}
      {page.problem.value && <p class="problem" role="alert">{page.problem.value}</p>}
      {(watched.missed.value || watched.told.value - page.told.value > kept) && following.value && <p class="notice">More events come than can be shown as they come: some are left out until you press Find.</p>}
      <p role="status" class="quiet">
        {page.said.value || (page.busy.value ? 'Searching …' : `${counted(events.length, 'event is', 'events are')} shown${page.next.value ? ', there may be more' : page.next.value === 0 ? ', that is all' : ''}.`)}
      </p>
      <div class="wide-table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Position</th>
              <th>Aggregate</th>
              <th>What happened</th>
              <th>When</th>
              <th>Request</th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.eventId} class={watched.events.value.includes(event) && isAhead(event) ? 'ahead' : ''}>
                <td>{event.position || ''}</td>
                <td>
                  <button class="event" onClick={() => browse({ tenant: event.tenant, aid: event.aid })} title={`Only ${event.aid}`} dir="auto">
                    {placeOf(event)}
                  </button>{' '}
                  {event.seqNr}
                </td>
                <td dir="auto">
                  <button class="event" onClick={() => open(event)}>
                    {sentence(event)}
                  </button>
                </td>
                <td title={personOf(event.executorId).name}>{moment(event.occurredAt)}</td>
                <td>
                  <button class="event" onClick={() => browse({ correlation: event.correlationId })} title="Only this request">
                    …{event.correlationId.slice(-6)}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {page.next.value ? (
        <button disabled={page.busy.value} onClick={() => void load(true)}>
          {typeof page.next.value === 'string' ? 'Look further' : 'Earlier events'}
        </button>
      ) : null}
    </section>
  );
}

export const events: View = { id: 'events', name: 'Events', Body: Events, shown: () => state.session.value.operator === true };

const set = (name: keyof Wanted, value: string): void => {
  wanted.value = { ...wanted.peek(), [name]: value };
};

function Filter({ name, label, placeholder, disabled = false }: { name: keyof Wanted; label: string; placeholder?: string; disabled?: boolean }) {
  const value = wanted.value[name];
  const change = (event: Event): void => set(name, (event.currentTarget as HTMLInputElement).value);
  return (
    <label>
      <span>{label}</span>
      {placeholder ? <input value={value} onInput={change} placeholder={placeholder} disabled={disabled} /> : <input type="datetime-local" value={value} onInput={change} />}
    </label>
  );
}
