// Commands by REST and queries by GraphQL, both on this page's origin. What is seen of each command on its way is kept
// in its trace. The types of bodies and answers are generated from what the programs describe.
import type { Query } from './queries.ts';
import type { Problem, Requests } from './requests.ts';
import { state, updateTrace } from './state.ts';
import type { Person, Trace } from './state.ts';
import { isWritten, written } from './traces.ts';

/** Compares an answer with its type; it does nothing unless the page was opened with ?check. */
export let check = (_to: string, _answer: unknown): void => undefined;

/** Loads what compares answers, for the rest of the tab's life: see check.ts. */
export async function loadCheck(): Promise<void> {
  if (new URLSearchParams(location.search).has('check')) sessionStorage.setItem('threads.check', 'yes');
  const script = '/check.js';
  if (sessionStorage.getItem('threads.check')) ({ check } = (await import(script)) as { check: typeof check });
}

/** The path of a command. */
export type Command = { [R in keyof Requests]: R extends `POST ${infer Path}` ? Path : never }[keyof Requests];
type Answer<C extends Command> = Requests[`POST ${C}`]['answer'];

/** The body of a command, without the one who sends it. */
export type Fields<C extends Command> = Omit<Requests[`POST ${C}`]['body'], 'executor_id'>;

export type Outcome<A = unknown> = { ok: true; answer: A; token: string } | { ok: false; problem: Problem };
export type OutcomeOf<C extends Command> = Outcome<Answer<C>>;

/**
 * Sends a command, and again until its outcome is known: with the same key it is applied once. Its event has the key as
 * the id of the request. A file is sent as it is.
 */
export async function command<C extends Command>(path: C, executor: Person, fields: Fields<C> | File, key = ulid()): Promise<OutcomeOf<C>> {
  const file = fields instanceof File ? fields : null;
  const shown: Record<string, unknown> = file
    ? { file: file.name, bytes: file.size }
    : state.session.peek().account ? { ...fields } : { executor_id: executor.id, ...fields };
  const body = file ?? JSON.stringify(shown);
  const trace: Trace = {
    key, path, executor: executor.name, executorId: executor.id, body: shown, sentAt: performance.now(), attempts: 0, stage: 'sent',
  };
  state.traces.value = [trace, ...state.traces.peek().filter((each) => each.key !== key)].slice(0, 30);
  for (let wait = 500, attempts = 1; ; wait = Math.min(wait * 2, 5000), attempts++) {
    updateTrace(key, { attempts });
    const asked = file ? asker(executor) : csrf(); // each time anew: see isRenewed
    const headers = { 'Content-Type': file?.type ?? 'application/json', ...asked, 'Idempotency-Key': key, 'X-Request-Id': key };
    const outcome = await attempt(path, trace, { method: 'POST', headers, body, ...(file ? {} : { signal: limit() }) });
    if (outcome && 'problem' in outcome && outcome.problem.status === 429) wait = 5000; // it has not been looked at
    else if (outcome) return outcome;
    if (!isWritten(state.traces.peek().find((each) => each.key === key))) updateTrace(key, { stage: 'unknown' });
    await Promise.race([new Promise((again) => setTimeout(again, wait)), connection.promise]);
  }
}

let connection = Promise.withResolvers<void>();

/** Sends again at once what got no answer: the connection is there. */
export function retry(): void {
  connection.resolve();
  connection = Promise.withResolvers();
}

async function attempt<C extends Command>(path: C, trace: Trace, init: RequestInit & { headers: Headed }): Promise<OutcomeOf<C> | null> {
  let response: Response;
  try {
    response = await fetch(`/api/write${path}`, init);
  } catch {
    return null; // nobody answered
  }
  const unread = (error: unknown): unknown => (error instanceof SyntaxError ? refusedOnTheWay(response.status) : null); // or it was cut off
  const answer = (await response.json().catch(unread)) as Record<string, unknown> | null;
  // 504, and a 500 without a code, are of a gateway: it does not know the outcome either.
  if (answer === null || [502, 503, 504].includes(response.status) || (response.status >= 500 && !answer.code)) return null;
  if (answer.code === 'concurrent_update') return null; // nothing was written: it may be decided on the next state
  if (response.status === 401 && isStale(init.headers)) return null;
  if (answer.code === 'forbidden' && (await isRenewed(init.headers))) return null;
  check(response.ok ? `POST ${path}` : 'Problem', answer);
  const token = response.headers.get('Consistency-Token') ?? '';
  const [aggregate = '', version] = token.split(':');
  const answered: Partial<Trace> = {
    answeredAt: performance.now(), status: response.status, answer, token,
    requestId: response.headers.get('X-Request-Id') ?? '',
    replayed: response.headers.get('Idempotent-Replayed') === 'true',
    ...(response.ok ? {} : { stage: byTheAggregate(response.status, answer.code) ? 'rejected' : 'invalid' }),
  };
  updateTrace(trace.key, answered);
  if (response.ok) written(trace.key, aggregate, Number(version));
  if (response.status === 401) expired();
  return response.ok ? { ok: true, answer: answer as Answer<C>, token } : { ok: false, problem: answer as Problem };
}

const onTheWay = 'refused_on_the_way';

/** The refusal of a proxy, which answers with a page of its own; null: it passes. The API's own 499 is empty. */
function refusedOnTheWay(status: number): Record<string, unknown> | null {
  if (status < 400 || status > 498 || [408, 425, 429].includes(status)) return null;
  return { status, code: onTheWay, title: '', detail: `refused on the way to the server (${status})` };
}

/** The aggregate says what breaks a rule. What is no command, or may not be asked, does not reach it. */
const byTheAggregate = (status: number, code: unknown): boolean =>
  [403, 404, 409, 412].includes(status) && ![onTheWay, 'forbidden', 'path_not_found'].includes(String(code));

type Headed = Record<string, string>;

export const csrf = (): Headed => (state.session.peek().csrf ? { 'X-CSRF-Token': state.session.peek().csrf ?? '' } : {});

/** Ends a request that gets no answer. That of /status comes within some seconds, whatever the programs do. */
const limit = (ms = 30_000): AbortSignal => AbortSignal.timeout(ms);

/** Whether this tab has gone on in another session since these headers were made. */
const isStale = (asked: Headed): boolean => asked['X-CSRF-Token'] !== csrf()['X-CSRF-Token'];

/**
 * Whether somebody has logged in in another tab since these headers were made, so that it is to be asked again. With
 * another account, this tab is loaded again, and nothing of it goes on until then.
 */
async function isRenewed(asked: Headed): Promise<boolean> {
  const session = await ask('GET /session').catch(() => null); // nobody answers: then it is asked again
  if (!session || (session.csrf ?? '') === (asked['X-CSRF-Token'] ?? '')) return !session;
  if (session.account !== state.session.peek().account) {
    location.reload();
    await new Promise(() => undefined);
  }
  state.session.value = session;
  return true;
}

/** Sends a request, and again if somebody has logged in in another tab. */
async function send(request: (asked: Headed) => Promise<Response>): Promise<Response> {
  const asked = csrf();
  const response = await request(asked);
  const again = response.status === 403 ? await isRenewed(asked) : response.status === 401 && isStale(asked);
  return again ? request(csrf()) : response;
}

function expired(): void {
  state.session.value = { ...state.session.peek(), expired: true };
}

/** Headers that say who asks where no body does; with a session, the session says it. */
export const asker = (person: Person): Record<string, string> => (state.session.peek().account ? csrf() : { 'X-Executor-Id': person.id });

/** The refusal of a request that is no command. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Sends a request that is no command. It fails with a Refusal, or when nobody answers. */
export async function ask<R extends keyof Requests>(request: R, body?: Requests[R]['body'], search = ''): Promise<Requests[R]['answer']> {
  const [method = '', path = ''] = request.split(' ');
  const url = (path.startsWith('/operate/') ? '/api' : '') + path + search;
  const go = (asked: Headed): Promise<Response> => {
    const headers: Headed = { ...asked, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
    return fetch(url, { method, headers, signal: limit(path === '/status' ? 5000 : undefined), ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  };
  const response = await (method === 'GET' ? go(csrf()) : send(go));
  const answer: unknown = await response.json();
  check(response.ok ? request : 'Problem', answer);
  if (!response.ok) throw new Refusal(response.status, (answer as Problem).detail);
  return answer as Requests[R]['answer'];
}

export class QueryError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Asks the read-api. It fails with a QueryError, or when nobody answers. */
export async function query<V, A>(document: Query<V, A>, variables: V, token = ''): Promise<A> {
  const body = JSON.stringify({ query: document.text, variables });
  const response = await send((asked) => {
    const headers: Headed = { 'Content-Type': 'application/json', Accept: 'application/json', ...asked, ...(token && { 'Consistency-Token': token }) };
    return fetch('/api/read/graphql', { method: 'POST', headers, signal: limit(), body });
  });
  if (response.status === 401) expired();
  const unread = (error: unknown): unknown => (error instanceof SyntaxError ? {} : Promise.reject(error as Error)); // of a proxy, or it was cut off
  const answer = (await response.json().catch(unread)) as { data?: A; errors?: Array<{ message: string; extensions?: { code?: string } }> };
  const failure = answer.errors?.[0];
  if (failure) throw new QueryError(failure.extensions?.code ?? '', failure.message);
  if (!answer.data) throw new QueryError('', `the read-api answers ${response.status}`);
  check(document.name, answer.data);
  return answer.data;
}

interface Page<T> {
  edges: Array<{ node: T }>;
  pageInfo: { hasNextPage: boolean; endCursor: null | string };
}

export const longest = 500; // of a page

/** Reads the first things of a list, page by page. What moves meanwhile may be on two pages. */
export async function readList<T extends { id: string }>(
  count: number, read: (page: { first: number; after: null | string }) => Promise<Page<T>>, after: null | string = null,
): Promise<{ list: T[]; more: boolean }> {
  const found = new Map<string, T>();
  for (;;) {
    const { edges, pageInfo } = await read({ first: Math.min(count - found.size, longest), after });
    for (const { node } of edges) found.set(node.id, node);
    if (found.size >= count || !pageInfo.hasNextPage) return { list: [...found.values()], more: pageInfo.hasNextPage };
    after = pageInfo.endCursor;
  }
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
