// What an application has on the page. main.tsx says it, and the parts that every application has read it here.
import type { ComponentType } from 'preact';
import type { Query } from './queries.ts';
import type { Trace } from './state.ts';
import type { JournalEvent } from './words.ts';

export interface View {
  id: string; // in the URL, and the class of the page's main part
  name: string;
  Body: ComponentType;
  shown?: () => boolean; // what the programs would refuse is not shown; undefined: it is always shown
  opened?: () => void; // or shown again after the connection was lost
}

/** A row of the read model that an event changes, and how it is read. */
export interface ChangedRow {
  table: string;
  key: string;
  read: () => Promise<{ row: unknown }>;
}

/** A query or subscription for the row of an aggregate. */
export type RowQuery = Query<{ key: string; viewer: string }, { row: { version: number } }>;

/** A type of aggregates. */
export interface Aggregate {
  type: string; // as ids begin: order-01H4…
  key?: (aid: string) => string; // as tokens name it; undefined: by its aid
  table?: string; // if its row is all of its read side
  changed?: RowQuery; // a subscription to this row
  rows: (event: JournalEvent, viewer: string) => ChangedRow[];
  sentence?: (event: JournalEvent) => string;
  name: (aid: string) => Promise<string>; // '': it has none
}

export interface Application {
  views: View[]; // in the order of the navigation
  aggregates: Aggregate[]; // the last one is the usual one
  Tools?: ComponentType; // in the page's first line
  Top?: ComponentType; // below it
  Section?: ComponentType; // of the operations
  look?: () => string | undefined; // what style.css marks
  recall?: () => void; // what the page knew when it was closed
  begin?: () => Promise<void>; // once somebody is let in
  connected?: () => void; // for the first time, and again
  tick?: () => void; // once a second, also while nobody looks
  settled?: (trace: Trace) => void; // the effect of a command is seen
  load?: () => void; // what the section shows
}

let application: Application = { views: [], aggregates: [] };

export const app = (): Application => application;

export function setApplication(its: Application): void {
  application = its;
}

/** The type of an aggregate; undefined: the page does not know it. */
export const typeOf = (aid: string): Aggregate | undefined => application.aggregates.find(({ type }) => aid.startsWith(`${type}-`));
