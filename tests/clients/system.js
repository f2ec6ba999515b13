// Shared by the scripts: the programs' URLs, commands, and waiting with a deadline.
import assert from 'node:assert/strict';

export const writeURL = process.env.WRITE_API_URL;
export const graphqlURL = `${process.env.READ_API_URL}/graphql`;
export const socketURL = graphqlURL.replace(/^http/, 'ws');

export const ada = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

const patience = 20_000; // ms

/** Sends a command of Ada's and returns the answer, with its consistency token. */
export async function command(path, fields) {
  const response = await fetch(writeURL + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ executor_id: ada, ...fields }),
  });
  const answer = await response.json();
  assert.ok(response.ok, `${path}: ${JSON.stringify(answer)}`);
  return { ...answer, token: response.headers.get('Consistency-Token') };
}

/** Creates a thread and returns its id once it can be read. */
export async function newThread(name) {
  const { thread_id: id, token } = await command('/threads/create', { name });
  const response = await fetch(graphqlURL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Consistency-Token': token },
    body: JSON.stringify(readName(id)),
  });
  assert.deepEqual(await response.json(), { data: { getThread: { name } } });
  return id;
}

export const rename = (id, name) => command('/threads/rename', { thread_id: id, name });

/** The operations that the scripts send. */
export const readName = (id) => ({
  query: 'query($id: ID!, $viewer: ID!) { getThread(threadId: $id, userAccountId: $viewer) { name } }',
  variables: { id, viewer: ada },
});
export const watchName = (id) => ({
  query: 'subscription($id: ID!, $viewer: ID!) { threadChanged(threadId: $id, userAccountId: $viewer) { name } }',
  variables: { id, viewer: ada },
});

/** Operations that the server refuses, each in its own way. */
export const refused = {
  'a syntax error': { query: 'subscription {' },
  'an unknown field': { query: '{ nothingOfThisName }' },
  'a missing variable': { query: readName('').query },
  'a subscription of nothing': watchName('01ARZ3NDEKTSV4RRFFQ69G5FAW'),
};

/** A place where values arrive, and where they are waited for. */
export class Mailbox {
  values = [];
  #waiting = new Set();

  put(value) {
    this.values.push(value);
    for (const check of this.#waiting) check();
  }

  /** Returns the first value that the test takes, of those from the position on. */
  async find(what, test, from = 0) {
    let check;
    const found = new Promise((resolve) => {
      check = () => {
        const value = this.values.slice(from).find(test);
        if (value !== undefined) resolve(value);
      };
    });
    this.#waiting.add(check);
    check();
    try {
      return await within(found, () => `${what} has not come; what came: ${JSON.stringify(this.values)}`);
    } finally {
      this.#waiting.delete(check);
    }
  }
}

/** Waits for the promise, and fails with the complaint when that takes too long. */
export async function within(promise, complaint) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint())), patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Subscribes with a client that has the subscribe of graphql-ws and graphql-sse. The mailbox gets the results, then
 * { error } or { complete: true }.
 */
export function subscribe(client, operation) {
  const mailbox = new Mailbox();
  mailbox.dispose = client.subscribe(operation, {
    next: (result) => mailbox.put(result),
    error: (error) => mailbox.put({ error }),
    complete: () => mailbox.put({ complete: true }),
  });
  return mailbox;
}

export const named = (name) => (result) => result.data?.threadChanged?.name === name;

/** Expects that the server has refused the operation: with an error before any data, and no more afterwards. */
export async function expectRefusal(about, mailbox) {
  await mailbox.find(`the refusal of ${about}`, (value) => value.error || value.errors || value.complete);
  const [first] = mailbox.values;
  const errors = first.errors ?? first.error;
  assert.ok(Array.isArray(errors) && errors[0].message, `${about} is refused with ${first.error ?? JSON.stringify(first)}`);
}
