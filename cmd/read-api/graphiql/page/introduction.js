'use strict';

// What GraphiQL shows at first.
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

const introductionVariables = '{\n  "user": "",\n  "thread": ""\n}\n';
