// This application's page. Another view, or another type of aggregates, is added here.
import * as chat from './chat/part.tsx'; // extra:chat
import { commands } from './commands.tsx';
import { events } from './events.tsx';
import { operations } from './operations.tsx';
import { begin } from './page.tsx';
import './style.css';
import './chat/style.css'; // extra:chat

// For the failure lab, a script of its own, which only a server with a lab has. // extra:lab {
export { signal, useSignal } from '@preact/signals';
export { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
// extra:lab }

begin({
  views: [
    chat.front, // extra:chat
    commands,
    events,
    chat.past, // extra:chat,history
    chat.broken, // extra:chat
    operations,
  ],
  aggregates: [
    chat.account, // extra:chat
    chat.thread, // extra:chat
  ],
  ...chat.others, // extra:chat
});
