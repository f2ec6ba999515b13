// Commands by REST and queries by GraphQL, both on this page's origin. What is seen of each command on its way is kept
// in its trace.
import { state, updateTrace } from './state.ts';
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
export async function command(path: string, executor: Person, fields: Record<string, unknown> | File, key = ulid()): Promise<Outcome> {
  const file = fields instanceof File ? fields : null;
  const shown: Record<string, unknown> = file
    ? { file: file.name, bytes: file.size }
    : state.session.peek().account ? { ...fields } : { executor_id: executor.id, ...fields };
  const init: RequestInit = {
    method: 'POST',
    headers: { 'Content-Type': file?.type ?? 'application/json', ...(file ? asker(executor) : csrf()), 'Idempotency-Key': key },
    body: file ?? JSON.stringify(shown),
  };
  const trace: Trace = {
    key, path, executor: executor.name, executorId: executor.id, body: shown, sentAt: performance.now(), attempts: 0, stage: 'sent',
  };
  state.traces.value = [trace, ...state.traces.peek().filter((each) => each.key !== key)].slice(0, 30);
  for (let wait = 500, attempts = 1; ; wait = Math.min(wait * 2, 5000), attempts++) {
    updateTrace(key, { attempts });
    const outcome = await attempt(trace, init);
    if (outcome && 'problem' in outcome && outcome.problem.status === 429) wait = 5000; // it has not been looked at
    else if (outcome) return outcome;
    updateTrace(key, { stage: 'unknown' });
    await Promise.race([new Promise((again) => setTimeout(again, wait)), nextConnection()]);
  }
}

let connection = Promise.withResolvers<void>();

const nextConnection = (): Promise<void> => connection.promise;

/** Sends again at once what got no answer: the connection is there. */
export function retry(): void {
  connection.resolve();
  connection = Promise.withResolvers();
}

async function attempt(trace: Trace, init: RequestInit): Promise<Outcome | null> {
  let response: Response;
  try {
    response = await fetch(`/api/write${trace.path}`, init);
  } catch {
    return null; // nobody answered
  }
  const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  if (response.status === 503 || response.status === 502 || answer === null) return null;
  const token = response.headers.get('Consistency-Token') ?? '';
  const [aggregate, version] = token.split(':');
  const answered: Partial<Trace> = {
    answeredAt: performance.now(), status: response.status, answer, token,
    requestId: response.headers.get('X-Request-Id') ?? '',
    replayed: response.headers.get('Idempotent-Replayed') === 'true',
    ...(response.ok ? { stage: 'written', aggregate, version: Number(version) } : { stage: byTheAggregate(response.status, answer.code) ? 'refused' : 'invalid' }),
  };
  updateTrace(trace.key, answered);
  settle({ ...trace, ...answered });
  if (response.status === 401) expired();
  return response.ok ? { ok: true, answer: answer as Answer, token } : { ok: false, problem: answer as unknown as Problem };
}

/** The aggregate says what breaks a rule. What is no command, or may not be asked, does not reach it. */
const byTheAggregate = (status: number, code: unknown): boolean =>
  [403, 404, 409, 412].includes(status) && code !== 'forbidden' && code !== 'path_not_found';

export const csrf = (): Record<string, string> => (state.session.peek().csrf ? { 'X-CSRF-Token': state.session.peek().csrf ?? '' } : {});

function expired(): void {
  state.session.value = { ...state.session.peek(), expired: true };
}

/** Headers that say who asks where no body does; with a session, the session says it. */
export const asker = (person: Person): Record<string, string> => (state.session.peek().account ? csrf() : { 'X-Executor-Id': person.id });

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
  if (response.status === 401) expired();
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

export const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A new ULID: ten characters of time and sixteen of chance. */
export function ulid(): string {
  let time = Date.now();
  let text = '';
  for (let i = 0; i < 10; i++, time = Math.floor(time / 32)) text = alphabet[time % 32] + text;
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) text += alphabet[byte % 32];
  return text;
}
