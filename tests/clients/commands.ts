// Every command through openapi-fetch, with the types that openapi-typescript makes of the served document. What does not
// fit them does not compile.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.js';

const writeURL = process.env.WRITE_API_URL ?? '';
const api = createClient<paths>({ baseUrl: writeURL });

const called = new Set<string>();
const remember: Middleware = {
  onRequest({ schemaPath }) {
    called.add(schemaPath);
  },
};
api.use(remember);

type Problem = components['schemas']['Problem'];

type TaskReply = components['schemas']['TaskReply'];
type Call<T> = Promise<{ data?: T; error?: Problem; response: Response }>;

async function answered<T>(call: Call<T>, later: boolean): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) throw new Error(`${response.url}: ${JSON.stringify(error)}`);
  assert.equal(response.status === 202, later, response.url);
  return data;
}

/** The answer to a command, which has to succeed, and at once. */
async function done<T>(call: Call<T>): Promise<Exclude<T, TaskReply>> {
  return (await answered(call, false)) as Exclude<T, TaskReply>;
}

/** The task that a command becomes. */
async function taken<T>(call: Call<T>): Promise<string> {
  const reply = (await answered(call, true)) as TaskReply;
  assert.equal(reply.task_id.length, 26);
  return reply.task_id;
}

const ada = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const bob = '01ARZ3NDEKTSV4RRFFQ69G5FAW';

const created = await done(
  api.POST('/threads/create', {
    params: { header: { 'X-Tenant-Code': 'typed', 'Idempotency-Key': randomUUID() } },
    body: { executor_id: ada, name: 'tea' },
  }),
);
const thread = { executor_id: ada, thread_id: created.thread_id };
const header = { 'X-Tenant-Code': 'typed' };
const params = { header };

await done(api.POST('/threads/rename', { params: { header: { ...header, 'If-Match': `"${created.version}"` } }, body: { ...thread, name: 'coffee' } }));
const joined = await done(api.POST('/threads/add_member', { params, body: { ...thread, user_account_id: bob, role: 'Member' } }));
assert.equal(joined.member_id.length, 26);
await done(api.POST('/threads/change_member_role', { params, body: { ...thread, user_account_id: bob, role: 'Admin' } }));
await done(api.POST('/threads/remove_member', { params, body: { ...thread, user_account_id: { value: bob } } }));
const { message_id } = await done(api.POST('/threads/post_message', { params, body: { ...thread, text: 'Anyone for a cup?' } }));
await done(api.POST('/threads/edit_message', { params, body: { ...thread, message_id, text: 'Anyone for two?' } }));
const last = await done(api.POST('/threads/delete_message', { params, body: { ...thread, message_id } }));
await taken(api.POST('/tasks/export_thread', { params, body: thread }));
const { snapshot_version } = await done(api.POST('/threads/snapshot', { params, body: thread }));
assert.equal(snapshot_version, last.version);
const { version } = await done(api.POST('/threads/delete', { params, body: thread }));
assert.equal(version, last.version + 1);

const late = await api.POST('/threads/rename', { params, body: { ...thread, name: 'too late' } });
assert.equal(late.response.status, 409);
assert.equal(late.error?.code, 'thread_deleted');

const registered = await done(api.POST('/accounts/register', { params, body: { executor_id: bob, name: 'Bob' } }));
assert.equal(registered.account_id, bob);
await done(api.POST('/accounts/rename', { params, body: { executor_id: bob, name: 'Robert' } }));
const closed = await done(api.POST('/accounts/close', { params, body: { executor_id: bob } }));
assert.equal(closed.version, registered.version + 2);

const erased = await api.POST('/accounts/erase', { params, body: { executor_id: bob } });
assert.equal(erased.error?.code, 'erasure_off');

const tenant = { executor_id: ada, tenant_code: `t-${randomUUID().slice(0, 8)}` };
await done(api.POST('/tenants/create', { params, body: tenant }));
await done(api.POST('/tenants/suspend', { params, body: tenant }));
const active = await done(api.POST('/tenants/reactivate', { params, body: tenant }));
assert.equal(active.version, 3);

await taken(api.POST('/threads/create', { params: { header: { ...header, Prefer: 'respond-async' } }, body: { executor_id: ada, name: 'later' } }));
const imported = await taken(
  api.POST('/tasks/import', {
    params: { header: { ...header, 'X-Executor-Id': ada } },
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: '{"path":"/threads/create","body":{"name":"imported"}}\n',
    bodySerializer: (lines: string) => lines,
  }),
);
const cancelled = await api.POST('/tasks/cancel', { params, body: { executor_id: ada, task_id: imported } });
assert.ok(cancelled.response.status === 202 || cancelled.error?.code === 'task_finished', JSON.stringify(cancelled.error));

const document: { paths: Record<string, { post?: object }> } = await (await fetch(`${writeURL}/openapi.json`)).json();
const commands = Object.keys(document.paths).filter((path) => document.paths[path]?.post);
assert.deepEqual([...called].sort(), commands.sort());
