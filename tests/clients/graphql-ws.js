// graphql-ws over WebSockets.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { expectRefusal, named, newThread, readName, refused, rename, socketURL, subscribe, watchName } from './system.js';

const perSocket = 256; // operations that the server accepts at the same time on one socket
const tooMany = 4;
const many = 200; // sockets

let sockets = 0;
const connect = () =>
  createClient({ url: socketURL, webSocketImpl: WebSocket, retryAttempts: 0, on: { connected: () => sockets++ } });

const thread = await newThread('tea');

// Queries, subscriptions and refused operations share a socket without affecting each other.
const client = connect();
const steady = subscribe(client, watchName(thread));
await steady.find('the first state', named('tea'));
for (const [about, operation] of Object.entries(refused)) {
  await expectRefusal(about, subscribe(client, operation));
}
const query = subscribe(client, readName(thread));
await query.find('the end of the query', (value) => value.complete);
assert.deepEqual(query.values, [{ data: { getThread: { name: 'tea' } } }, { complete: true }]);
await rename(thread, 'coffee');
await steady.find('the change', named('coffee'));

// One socket with the maximum number of subscriptions; further ones are refused separately.
const others = Array.from({ length: perSocket - 1 + tooMany }, () => subscribe(client, watchName(thread)));
const accepted = others.slice(0, perSocket - 1);
await Promise.all(accepted.map((each) => each.find('the first state', named('coffee'))));
for (const each of others.slice(perSocket - 1)) {
  const { error } = await each.find('the refusal', (value) => value.error);
  assert.equal(error[0]?.extensions?.code, 'TOO_MANY_OPERATIONS');
}
await rename(thread, 'cocoa');
await Promise.all([steady, ...accepted].map((each) => each.find('the change', named('cocoa'))));

// A client that unsubscribes gets nothing more, and makes room for another subscription.
accepted[0].dispose();
await accepted[0].find('the end', (value) => value.complete);
const heard = accepted[0].values.length;
await subscribe(client, watchName(thread)).find('the first state', named('cocoa'));
await rename(thread, 'juice');
await steady.find('the change', named('juice'));
assert.equal(accepted[0].values.length, heard);
assert.equal(sockets, 1, 'the client had to connect again');
await client.dispose();

// One subscription on each of many sockets.
const clients = Array.from({ length: many }, connect);
const alone = clients.map((each) => subscribe(each, watchName(thread)));
await Promise.all(alone.map((each) => each.find('the first state', named('juice'))));
await rename(thread, 'water');
await Promise.all(alone.map((each) => each.find('the change', named('water'))));
assert.equal(sockets, 1 + many);
await Promise.all(clients.map((each) => each.dispose()));
