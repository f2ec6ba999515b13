// graphql-ws over WebSockets.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { expectRefusal, named, newThread, readName, refused, rename, socketURL, subscribe, watchName } from './system.js';

const perSocket = 256; // operations that the server takes at once on one socket
const tooMany = 4;
const many = 200; // sockets

let sockets = 0;
const connect = () =>
  createClient({ url: socketURL, webSocketImpl: WebSocket, retryAttempts: 0, on: { connected: () => sockets++ } });

const thread = await newThread('tea');

// Queries, subscriptions and operations that are refused share a socket and do not disturb each other.
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

// As many subscriptions as one socket may have; what is more is refused by itself.
const others = Array.from({ length: perSocket - 1 + tooMany }, () => subscribe(client, watchName(thread)));
const accepted = others.slice(0, perSocket - 1);
await Promise.all(accepted.map((each) => each.find('the first state', named('coffee'))));
for (const each of others.slice(perSocket - 1)) {
  const { error } = await each.find('the refusal', (value) => value.error);
  assert.equal(error[0]?.extensions?.code, 'TOO_MANY_OPERATIONS');
}
await rename(thread, 'cocoa');
await Promise.all([steady, ...accepted].map((each) => each.find('the change', named('cocoa'))));

// Who stops listening hears nothing more, and makes room.
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
