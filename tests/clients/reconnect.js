// Clients must reconnect by themselves when the server stops, and must get the latest state. When this script prints
// "restart SIGTERM" on a line, the test restarts the read-api with that signal.
import { createClient as createEventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import WebSocket from 'ws';
import { graphqlURL, named, newThread, rename, socketURL, subscribe, watchName } from './system.js';

const retries = {
  retryAttempts: 1000,
  shouldRetry: () => true, // by default graphql-ws does not retry a refused connection
  retryWait: () => pause(),
  retry: () => pause(), // graphql-sse's name for it
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

const clients = {
  'graphql-ws': createSocketClient({ url: socketURL, webSocketImpl: WebSocket, ...retries }),
  'graphql-sse': createEventClient({ url: graphqlURL, ...retries }),
};
const thread = await newThread('tea');
const subscriptions = Object.entries(clients).map(([name, client]) => [name, subscribe(client, watchName(thread))]);
for (const [name, mailbox] of subscriptions) await mailbox.find(`the first state by ${name}`, named('tea'));

for (const signal of ['SIGTERM', 'SIGKILL']) {
  const heard = subscriptions.map(([, mailbox]) => mailbox.values.length);
  console.log(`restart ${signal}`);
  await rename(thread, `during ${signal}`);
  for (const [i, [name, mailbox]] of subscriptions.entries()) {
    await mailbox.find(`the state after ${signal} by ${name}`, named(`during ${signal}`), heard[i]);
  }
}
await rename(thread, 'at last');
for (const [name, mailbox] of subscriptions) await mailbox.find(`the last state by ${name}`, named('at last'));
for (const client of Object.values(clients)) await client.dispose();
