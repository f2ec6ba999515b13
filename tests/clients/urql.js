// @urql/core: queries over HTTP, subscriptions over server-sent events and over WebSockets.
import assert from 'node:assert/strict';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Mailbox, graphqlURL, named, newThread, readName, refused, rename, socketURL, watchName } from './system.js';

const sockets = createClient({ url: socketURL, webSocketImpl: WebSocket, retryAttempts: 0 });
const forward = subscriptionExchange({
  forwardSubscription: (request) => ({
    subscribe: (sink) => ({ unsubscribe: sockets.subscribe({ ...request, query: request.query ?? '' }, sink) }),
  }),
});

const clients = {
  'server-sent events': new Client({ url: graphqlURL, exchanges: [fetchExchange], fetchSubscriptions: true }),
  WebSockets: new Client({ url: graphqlURL, exchanges: [forward, fetchExchange] }),
};

for (const [transport, client] of Object.entries(clients)) {
  const thread = await newThread('tea');
  const { query, variables } = readName(thread);
  const read = await client.query(query, variables).toPromise();
  assert.equal(read.error, undefined);
  assert.deepEqual(read.data, { getThread: { name: 'tea' } });

  const changes = new Mailbox();
  const watch = watchName(thread);
  const subscription = client.subscription(watch.query, watch.variables).subscribe((result) => changes.put(result));
  await changes.find(`the first state over ${transport}`, named('tea'));

  const unknown = await client.query('{ nothingOfThisName }', {}).toPromise();
  assert.match(unknown.error?.graphQLErrors[0]?.message ?? `no error over ${transport}`, /nothingOfThisName/);
  const nothing = new Mailbox();
  const { query: watchNothing, variables: viewer } = refused['a subscription of nothing'];
  const refusal = client.subscription(watchNothing, viewer).subscribe((result) => nothing.put(result));
  const { error } = await nothing.find(`the refusal over ${transport}`, (result) => result.error);
  assert.equal(error.graphQLErrors[0]?.extensions.code, 'NOT_FOUND', `${transport}: ${error}`);
  refusal.unsubscribe();

  await rename(thread, 'coffee');
  await changes.find(`the change over ${transport}`, named('coffee'));
  subscription.unsubscribe();
}
await sockets.dispose();
