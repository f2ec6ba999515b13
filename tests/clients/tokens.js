// Third-party clients send tokens over POST, a WebSocket and server-sent events.
import assert from 'node:assert/strict';
import { createClient as createSSE } from 'graphql-sse';
import { createClient as createWS } from 'graphql-ws';
import WebSocket from 'ws';
import { graphqlURL, named, socketURL, subscribe } from './system.js';

const { TOKEN, OTHER_TOKEN, THREAD } = process.env;
const authorization = `Bearer ${TOKEN}`;
const watch = { query: `subscription { threadChanged(threadId: "${THREAD}") { name } }` };
const read = { query: `{ getThread(threadId: "${THREAD}") { name } }` };

async function post(token) {
  const response = await fetch(graphqlURL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(read),
  });
  return { status: response.status, answer: await response.json() };
}

const socket = createWS({ url: socketURL, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams: { authorization } });
await subscribe(socket, watch).find('the thread over a WebSocket', named('coffee'));
const events = createSSE({ url: graphqlURL, retryAttempts: 0, headers: { Authorization: authorization } });
await subscribe(events, watch).find('the thread by server-sent events', named('coffee'));
assert.deepEqual(await post(TOKEN), { status: 200, answer: { data: { getThread: { name: 'coffee' } } } });

const { status, answer } = await post();
assert.equal(status, 401);
assert.equal(answer.errors[0].extensions.code, 'UNAUTHENTICATED');
assert.equal((await post(OTHER_TOKEN)).answer.errors[0].extensions.code, 'NOT_FOUND');

const closed = new Promise((resolve) => {
  const stranger = createWS({ url: socketURL, webSocketImpl: WebSocket, retryAttempts: 0, on: { closed: resolve } });
  subscribe(stranger, watch);
});
assert.equal((await closed).code, 4401);

await socket.dispose();
events.dispose();
