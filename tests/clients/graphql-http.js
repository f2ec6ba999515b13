// graphql-http's audit of the GraphQL-over-HTTP specification. All requirements must hold, including the optional ones.
import { serverAudits } from 'graphql-http';
import { graphqlURL } from './system.js';

for (const audit of serverAudits({ url: graphqlURL })) {
  const { status, reason } = await audit.fn();
  if (status !== 'ok') {
    console.error(`${audit.id} ${audit.name}: ${reason}`);
    process.exitCode = 1;
  }
}
