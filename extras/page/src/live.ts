// Subscriptions by graphql-transport-ws. One WebSocket carries all of them; when it breaks, it is opened again, and each
// subscription starts again with the present state.
import { check } from './api.ts';
import type { Query } from './queries.ts';
import { state } from './state.ts';

interface Subscription {
  text: string;
  variables: unknown;
  next: (data: unknown) => void;
  ended: (code: string, message: string) => void;
}

interface Frame {
  type: string;
  id?: string;
  payload?: unknown;
}

const subscriptions = new Map<string, Subscription>();
let socket: WebSocket | null = null;
let wait = 250;
let last = 0;

const longestSilence = 45_000; // milliseconds: the server sends a ping every 15 s

/** Follows a subscription until the returned function is called, or ended is. */
export function follow<V, A>(
  document: Query<V, A>, variables: V, next: (data: A) => void, ended: (code: string, message: string) => void,
): () => void {
  const id = String(++last);
  const received = (data: unknown): void => {
    check(document.name, data);
    next(data as A);
  };
  subscriptions.set(id, { text: document.text, variables, next: received, ended });
  if (state.live.peek() === 'connected') subscribe(id);
  else connect();
  return () => {
    if (subscriptions.delete(id) && state.live.peek() === 'connected') send({ type: 'complete', id });
  };
}

let connected = (): void => undefined;

/** Has a function called whenever the connection is there, for the first time and again. */
export function onConnected(caller: () => void): void {
  connected = caller;
}

function connect(): void {
  if (socket) return;
  const url = new URL('/api/read/graphql', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const opened = new WebSocket(url, 'graphql-transport-ws');
  socket = opened;
  const lost = (): void => {
    clearTimeout(silence);
    socket = null;
    if (state.live.peek() === 'connected') state.live.value = 'lost';
  };
  const silent = (): void => {
    opened.onclose = null; // who does not answer may not confirm the end either, for minutes
    opened.close();
    lost();
    connect();
  };
  let silence = setTimeout(silent, longestSilence);
  opened.onopen = () => send({ type: 'connection_init' });
  opened.onmessage = (event) => {
    clearTimeout(silence);
    silence = setTimeout(silent, longestSilence);
    receive(JSON.parse(event.data as string) as Frame);
  };
  opened.onclose = () => {
    lost();
    if (wait > 1000) state.live.value = 'lost'; // it may never have been there
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 4000);
  };
}

function receive(frame: Frame): void {
  const subscription = subscriptions.get(frame.id ?? '');
  switch (frame.type) {
    case 'connection_ack':
      wait = 250;
      state.live.value = 'connected';
      for (const id of subscriptions.keys()) subscribe(id);
      connected();
      break;
    case 'ping':
      send({ type: 'pong' });
      break;
    case 'next': {
      const answer = frame.payload as { data?: unknown; errors?: Failure[] };
      if (answer.errors) {
        send({ type: 'complete', id: frame.id ?? '' });
        end(frame.id ?? '', answer.errors);
      } else if (answer.data) subscription?.next(answer.data);
      break;
    }
    case 'error':
      end(frame.id ?? '', frame.payload as Failure[]);
      break;
    case 'complete':
      subscriptions.delete(frame.id ?? '');
  }
}

interface Failure {
  message: string;
  extensions?: { code?: string };
}

function end(id: string, failures: Failure[]): void {
  const subscription = subscriptions.get(id);
  subscriptions.delete(id);
  subscription?.ended(failures[0]?.extensions?.code ?? '', failures[0]?.message ?? 'the subscription has ended');
}

function subscribe(id: string): void {
  const subscription = subscriptions.get(id);
  if (subscription) send({ type: 'subscribe', id, payload: { query: subscription.text, variables: subscription.variables } });
}

function send(frame: Frame): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}
