// The audit of the GraphQL-over-HTTP specification that graphql-http has: what a server must, should and may do. All of it
// holds, the mays included.
import { serverAudits } from 'graphql-http';
import { graphqlURL } from './system.js';

for (const audit of serverAudits({ url: graphqlURL })) {
  const { status, reason } = await audit.fn();
  if (status !== 'ok') {
    console.error(`${audit.id} ${audit.name}: ${reason}`);
    process.exitCode = 1;
  }
}
