// graphql-sse in the mode of distinct connections.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-sse';
import { expectRefusal, graphqlURL, named, newThread, readName, refused, rename, subscribe, watchName } from './system.js';

const many = 200;

const client = createClient({ url: graphqlURL, retryAttempts: 0 });
const thread = await newThread('tea');
const steady = subscribe(client, watchName(thread));
await steady.find('the first state', named('tea'));

for (const [about, operation] of Object.entries(refused)) {
  await expectRefusal(about, subscribe(client, operation));
}
const query = subscribe(client, readName(thread));
await query.find('the end of the query', (value) => value.complete);
assert.deepEqual(query.values, [{ data: { getThread: { name: 'tea' } } }, { complete: true }]);

const others = Array.from({ length: many - 1 }, () => subscribe(client, watchName(thread)));
await Promise.all(others.map((each) => each.find('the first state', named('tea'))));
await rename(thread, 'coffee');
await Promise.all([steady, ...others].map((each) => each.find('the change', named('coffee'))));

others[0].dispose();
await others[0].find('the end', (value) => value.complete);
const heard = others[0].values.length;
await rename(thread, 'cocoa');
await steady.find('the change', named('cocoa'));
assert.equal(others[0].values.length, heard);
client.dispose();
