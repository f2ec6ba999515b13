'use strict';

// Queries go to /graphql by POST, subscriptions by a WebSocket to the same place. What is in the Headers pane goes along with
// both: a browser can't set headers on a WebSocket, so there it travels in connection_init, where the server looks for
// Authorization and X-Tenant-Code.
const endpoint = new URL('/graphql', window.location.href);
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === 'https:' ? 'wss:' : 'ws:';

// What the operator should know, such as that nobody is asked who they are, is on the page, too.
fetch('/health/alive')
  .then((answer) => answer.json())
  .then(({ warning }) => {
    if (warning) {
      const notice = document.createElement('p');
      notice.id = 'warning';
      notice.textContent = warning;
      document.body.prepend(notice);
    }
  });

ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: endpoint.href, subscriptionUrl: socket.href }),
    defaultQuery: introduction,
    variables: introductionVariables,
    defaultEditorToolsVisibility: 'variables',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false, // a token among them is not for the browser to keep,
  }),
);
