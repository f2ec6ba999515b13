// The audit of the GraphQL-over-HTTP specification that graphql-http has. What a server MUST and SHOULD do holds; of what
// it MAY do, the list says what this one does not, and why.
import { serverAudits } from 'graphql-http';
import { graphqlURL } from './system.js';

const notDone = {
  '5A70': 'GET is not served: queries and their variables do not belong into URLs, which proxies log',
  D6D5: 'GET is not served',
  '6A70': 'GET is not served',
};

for (const audit of serverAudits({ url: graphqlURL })) {
  const { status, reason } = await audit.fn();
  const known = audit.id in notDone;
  if (status !== 'ok' && !(known && audit.name.startsWith('MAY '))) {
    console.error(`failed: ${audit.id} ${audit.name}: ${reason}`);
    process.exitCode = 1;
  }
  if (status === 'ok' && known) {
    console.error(`passes, so that it does not belong into the list: ${audit.id} ${audit.name}`);
    process.exitCode = 1;
  }
  delete notDone[audit.id];
}
for (const id of Object.keys(notDone)) {
  console.error(`there is no audit ${id}`);
  process.exitCode = 1;
}
