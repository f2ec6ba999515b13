'use strict';

// Queries go to /graphql by POST, subscriptions by a WebSocket to the same place. What is in the Headers pane goes along with
// both: a browser can't set headers on a WebSocket, so there it travels in connection_init, where the server looks for
// Authorization and X-Tenant-Code.
const endpoint = new URL('/graphql', window.location.href);
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === 'https:' ? 'wss:' : 'ws:';

const introduction = `# Threads as one user account sees them.
#
# Put ids into the Variables pane below. In the Headers pane:
#   {"Authorization": "Bearer <token>"}
# says who you are, where the server asks for it (then leave userAccountId out),
#   {"X-Tenant-Code": "acme"}
# says whose threads, and
#   {"Consistency-Token": "<thread id>:<version>"}
# waits for what a command has answered.
#
# The book on the left describes every field.

query MyThreads($user: ID!) {
  threads(userAccountId: $user, first: 20) {
    edges {
      node {
        id
        name
        version
        updatedAt
        messages(last: 5) {
          edges {
            node {
              userAccountId
              text
              createdAt
            }
          }
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}

subscription Follow($user: ID!, $thread: ID!) {
  threadChanged(threadId: $thread, userAccountId: $user) {
    version
    name
    messages(last: 1) {
      edges {
        node {
          text
        }
      }
    }
  }
}
`;

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
    variables: '{\n  "user": "",\n  "thread": ""\n}\n',
    defaultEditorToolsVisibility: 'variables',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false, // a token among them is not for the browser to keep,
  }),
);
