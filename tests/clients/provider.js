// A third-party, certified OpenID Connect provider, as the issuer of the programs' tokens. It prints its URL. For each
// line that it reads it prints a token; the line has client, scope and audience, separated by '|'.
import { createInterface } from 'node:readline';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { ada } from './system.js';

const bob = '01BX5ZZKBKACTAV9WEVGEMMVRZ';
const accounts = { ada: { account_id: ada }, bob: { account_id: bob }, other: { account_id: ada, tenant: 'other' }, none: {} };
const scopes = 'threads:read threads:write threads:operate';

const server = createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    ...Object.keys(accounts).map((id) => ({
      client_id: id,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    // For logins in a browser, which return to the page that the environment names.
    {
      client_id: 'page',
      token_endpoint_auth_method: 'none',
      application_type: 'native', // such a client may return to http on loopback
      redirect_uris: [process.env.REDIRECT_URI ?? 'http://127.0.0.1/login/callback'],
    },
  ],
  scopes: scopes.split(' '),
  features: {
    devInteractions: { enabled: process.env.REDIRECT_URI !== undefined },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        scope: scopes,
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: 'jwt',
      }),
    },
  },
  extraTokenClaims: (_context, token) => accounts[token.accountId ?? token.clientId],
});
server.on('request', provider.callback());
console.log(issuer);

for await (const line of createInterface({ input: process.stdin })) {
  const [client, scope, audience] = line.split('|');
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource: audience }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  console.log(answer.access_token);
}
server.closeAllConnections();
server.close();
