// A form for each command on aggregates with one row, as the write-api's OpenAPI document describes it, beside the way
// that the command takes.
import { signal, useSignal } from '@preact/signals';
import { command, inWords, ulid } from './api.ts';
import type { Command } from './api.ts';
import { typeOf } from './application.ts';
import type { View } from './application.ts';
import { titled } from './common.tsx';
import { Flow } from './flow.tsx';
import { RowMap, withOneRow } from './onerow.tsx';
import { afterFirst, beforeFirst } from './slow.ts';
import { keep, know, personOf, state } from './state.ts';
import type { Person } from './state.ts';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Document {
  paths: Record<string, { post?: { tags?: string[]; summary: string; description: string; requestBody?: { content: Record<string, { schema: Schema }> } } }>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  path: Command;
  summary: string;
  about: string;
  fields: Field[];
}

interface Field {
  name: string;
  schema: Schema;
  required: boolean;
}

const operations = signal<Operation[]>([]);
const problem = signal('');

async function load(): Promise<void> {
  if (!state.session.peek().account) know(you());
  if (operations.peek().length > 0) return;
  try {
    operations.value = read((await (await fetch('/api/write/openapi.json')).json()) as Document);
    problem.value = '';
  } catch {
    problem.value = 'The write-api can not be reached.';
  }
}

/** The commands of the document that have a form. Those that begin an aggregate come first. */
function read({ paths, components }: Document): Operation[] {
  const resolved = (schema: Schema): Schema => ({ ...components.schemas[schema.$ref?.split('/').at(-1) ?? ''], ...schema });
  const found = Object.entries(paths).flatMap(([path, { post }]): Operation[] => {
    const body = post?.requestBody?.content['application/json'];
    if (!body || !withOneRow().some(({ table }) => table && post.tags?.includes(table))) return [];
    const { properties = {}, required = [] } = resolved(body.schema);
    const names = Object.keys(properties).filter((name) => name !== 'executor_id' && name !== '$schema');
    const fields = names.map((name): Field => ({ name, schema: resolved(properties[name] ?? {}), required: required.includes(name) }));
    return [{ path: path as Command, summary: post.summary, about: post.description, fields }];
  });
  return found.sort((a, b) => Number(isOnOne(a)) - Number(isOnOne(b)));
}

const isOnOne = ({ fields }: Operation): boolean => fields.some(({ name, required }) => required && typeNamed(name));

/** The type of aggregates that a field names. */
const typeNamed = (field: string): string | undefined => withOneRow().find(({ type }) => field === `${type}_id`)?.type;

const kept = 'threads.you';

/** Who sends the commands. Where nobody is asked who they are, it is an account of this browser's. */
function you(): Person {
  const { account } = state.session.peek();
  if (account) return personOf(account);
  const id = localStorage.getItem(kept) ?? ulid();
  keep(kept, id);
  return { id, name: 'You' };
}

function Commands() {
  const path = useSignal('');
  const operation = operations.value.find((each) => each.path === path.value) ?? operations.value[0];
  return (
    <>
      <section class="card" aria-label="Commands">
        <h2>Commands</h2>
        {problem.value && <p class="problem" role="alert">{problem.value}</p>}
        {operation && (
          <>
            <div class="row choice" role="group" aria-label="Which command">
              {operations.value.map((each) => (
                <button key={each.path} aria-pressed={each === operation} onClick={() => (path.value = each.path)}>
                  {each.summary}
                </button>
              ))}
            </div>
            <Form key={operation.path} operation={operation} />
          </>
        )}
      </section>
      <Flow Map={RowMap} hint={`Send a command${state.session.value.operator ? ', here or with curl' : ''}: it appears here and moves from left to right.`} />
    </>
  );
}

export const commands: View = { id: 'commands', name: 'Commands', Body: Commands, shown: () => withOneRow().length > 0, opened: () => void load() };

function Form({ operation }: { operation: Operation }) {
  const rejected = useSignal('');
  const last = state.traces.value.find(({ aggregate = '' }) => typeOf(aggregate)?.changed)?.aggregate ?? '';
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { elements } = event.target as HTMLFormElement;
    const typed = (name: string): string => (elements.namedItem(name) as HTMLInputElement).value;
    const values = operation.fields.filter(({ name, required }) => required || typed(name)).map(({ name, schema }) => [name, valueOf(schema, typed(name))]);
    const key = ulid();
    await beforeFirst(key);
    const outcome = await command(operation.path, you(), Object.fromEntries(values) as Record<string, unknown>, key);
    if (!outcome.ok) afterFirst(key, false);
    rejected.value = outcome.ok ? '' : inWords(outcome.problem);
  };
  return (
    <form class="filter" onSubmit={submit}>
      <p class="row quiet">{operation.about}</p>
      {operation.fields.map((field) => (
        <Input key={field.name} field={field} last={last} />
      ))}
      <div class="row">
        <button class="primary">Send</button>
        {rejected.value && <span class="problem" role="alert">{rejected.value}</span>}
      </div>
    </form>
  );
}

/** A field is filled with the document's example, or with the aggregate of the last command, until somebody types. */
function Input({ field, last }: { field: Field; last: string }) {
  const { name, schema } = field;
  return (
    <label>
      <span title={schema.description}>{titled(name.replaceAll('_', ' '))}</span>
      <Value field={field} last={last} />
    </label>
  );
}

function Value({ field: { name, schema, required }, last }: { field: Field; last: string }) {
  const type = typeNamed(name);
  const example = String(schema.examples?.[0] ?? '');
  if (schema.enum) return <select name={name}>{schema.enum.map((value) => <option key={value} selected={value === example}>{value}</option>)}</select>;
  if (schema.type === 'integer') return <input name={name} type="number" min={schema.minimum} max={schema.maximum} defaultValue={example} required={required} />;
  if (schema.format === 'date-time') return <input name={name} type="datetime-local" defaultValue={example.slice(0, 16)} required={required} />;
  const text = !type ? example : last.startsWith(`${type}-`) ? last.slice(type.length + 1) : '';
  return <input name={name} defaultValue={text} required={required} dir="auto" />;
}

function valueOf({ type, format }: Schema, text: string): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  return format === 'date-time' ? new Date(text).toISOString() : text;
}
