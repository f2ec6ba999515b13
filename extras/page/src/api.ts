// Commands by REST and queries by GraphQL, both on this page's origin. What is seen of each command on its way is kept
// in its trace.
import { change, state } from './state.ts';
import type { Person, Trace } from './state.ts';
import { settle } from './traces.ts';

/** What the write-api answers when it refuses a command (RFC 9457). */
export interface Problem {
  status: number;
  code: string;
  detail: string;
  errors?: Array<{ location: string; message: string }>;
}

export type Answer = { version: number; [name: string]: unknown };

export type Outcome = { ok: true; answer: Answer; token: string } | { ok: false; problem: Problem };

/** Sends a command, and again until its outcome is known: with the same key it is applied once. A file is sent as it is. */
export async function command(path: string, executor: Person, fields: Record<string, unknown> | File): Promise<Outcome> {
  const file = fields instanceof File ? fields : null;
  const shown: Record<string, unknown> = file ? { file: file.name, bytes: file.size } : state.session.account ? { ...fields } : { executor_id: executor.id, ...fields };
  const body = file ?? JSON.stringify(shown);
  const headers = file ? asker(executor) : csrf();
  const trace: Trace = { key: newKey(), path, executor: executor.name, body: shown, sentAt: performance.now(), attempts: 0, stage: 'sent' };
  change(() => {
    state.traces = [trace, ...state.traces].slice(0, 30);
    if (state.following) state.trace = trace.key;
  });
  for (let wait = 500; ; wait = Math.min(wait * 2, 5000)) {
    trace.attempts++;
    const outcome = await attempt(trace, { body, headers: { 'Content-Type': file?.type ?? 'application/json', ...headers } });
    if (outcome) return outcome;
    change(() => (trace.stage = 'unknown'));
    await new Promise((again) => setTimeout(again, wait));
  }
}

async function attempt(trace: Trace, { body, headers }: { body: string | File; headers: Record<string, string> }): Promise<Outcome | null> {
  let response: Response;
  try {
    response = await fetch(`/api/write${trace.path}`, { method: 'POST', headers: { ...headers, 'Idempotency-Key': trace.key }, body });
  } catch {
    return null; // nobody answered
  }
  const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  if (response.status === 503 || response.status === 502 || answer === null) return null;
  const answeredAt = performance.now();
  const token = response.headers.get('Consistency-Token') ?? '';
  change(() => {
    trace.answeredAt = answeredAt;
    trace.status = response.status;
    trace.answer = answer;
    trace.token = token;
    trace.requestId = response.headers.get('X-Request-Id') ?? '';
    trace.replayed = response.headers.get('Idempotent-Replayed') === 'true';
    trace.stage = response.ok ? 'written' : 'refused';
    const [aggregate, version] = token.split(':');
    if (response.ok) {
      trace.aggregate = aggregate;
      trace.version = Number(version);
    }
  });
  settle(trace);
  if (response.status === 401) change(() => (state.session.expired = true));
  return response.ok ? { ok: true, answer: answer as Answer, token } : { ok: false, problem: answer as unknown as Problem };
}

export const csrf = (): Record<string, string> => (state.session.csrf ? { 'X-CSRF-Token': state.session.csrf } : {});

/** Headers that say who asks where no body does; with a session, the session says it. */
export const asker = (person: Person): Record<string, string> => (state.session.account ? csrf() : { 'X-Executor-Id': person.id });

export class QueryError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Asks the read-api. It fails with a QueryError, or when nobody answers. */
export async function query<T>(document: string, variables: Record<string, unknown>, token = ''): Promise<T> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', Accept: 'application/json', ...csrf() };
  if (token) headers['Consistency-Token'] = token;
  const response = await fetch('/api/read/graphql', { method: 'POST', headers, body: JSON.stringify({ query: document, variables }) });
  if (response.status === 401) change(() => (state.session.expired = true));
  const answer = (await response.json()) as { data?: T; errors?: Array<{ message: string; extensions?: { code?: string } }> };
  const failure = answer.errors?.[0];
  if (failure) throw new QueryError(failure.extensions?.code ?? '', failure.message);
  if (!answer.data) throw new QueryError('', `the read-api answers ${response.status}`);
  return answer.data;
}

/** In words, beside the field that it is about. */
export function inWords(problem: Problem): string {
  const fields = problem.errors?.map((each) => `${each.location.replace('body.', '')} ${each.message}`).join('; ');
  return fields || problem.detail || `the server answers ${problem.status}`;
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A new ULID: ten characters of time and sixteen of chance. */
export function ulid(): string {
  let time = Date.now();
  let text = '';
  for (let i = 0; i < 10; i++, time = Math.floor(time / 32)) text = alphabet[time % 32] + text;
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) text += alphabet[byte % 32];
  return text;
}

const newKey = ulid;
