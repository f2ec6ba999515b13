'use strict';

// Queries and subscriptions go to /graphql by POST, with what is in the Headers pane. A subscription is answered by
// server-sent events.
function fetcher(operation, { headers } = {}) {
  const isSubscription = /\bsubscription\b/.test(operation.query);
  const left = new AbortController();
  const answer = () => fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: isSubscription ? 'text/event-stream' : 'application/json', ...headers },
    body: JSON.stringify(operation),
    signal: left.signal,
  });
  if (!isSubscription) return answer().then((response) => response.json());
  return {
    subscribe({ next, error, complete }) {
      answer().then((response) => follow(response, next)).then(complete, error);
      return { unsubscribe: () => left.abort() };
    },
  };
}

async function follow(response, next) {
  if (!response.headers.get('Content-Type').startsWith('text/event-stream')) return next(await response.json()); // refused
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const data = event.match(/^data: (.*)$/m);
      if (data) next(JSON.parse(data[1]));
    }
  }
}

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
    fetcher,
    defaultQuery: introduction,
    variables: introductionVariables,
    defaultEditorToolsVisibility: 'variables',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false, // a token among them is not for the browser to keep,
  }),
);
