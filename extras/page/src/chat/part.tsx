// What the page has of this application, chat: its views, its aggregates, and the rest. main.tsx adds it.
import { effect } from '@preact/signals';
import { ask, inWords } from '../api.ts';
import type { Application, View } from '../application.ts';
import { Flow } from '../flow.tsx';
import { rebuild } from '../rebuild.ts';
import { brake } from '../slow.ts';
import { state } from '../state.ts';
import * as act from './actions.ts';
import { Chat } from './chat.tsx';
import { lab, stopped } from './forlab.ts';
import type { Lab, PageForLab } from './forlab.ts';
import { History, reload } from './history.tsx'; // extra:history
import { readEvent } from './journal.ts'; // extra:history
import { Map } from './map.tsx';
import { postText } from './message.tsx';
import { resume } from './outbox.ts';
import { frontPane, Pane, panes } from './panes.ts';
import { look as lookAtSecond, second } from './second.ts';
import * as tasks from './tasks.tsx'; // extra:tasks
import { findLost, look, lostByTour, Tour, TourButton } from './tour.tsx';
import { unreadByAll } from './unread.ts';

export { account, thread } from './aggregates.ts';

const pageForLab: PageForLab = {
  ready: () => Boolean(frontPane()?.thread.value),
  pane: () => {
    const pane = frontPane();
    return pane && { viewer: pane.viewer, selected: pane.selected.peek(), version: pane.thread.peek()?.version ?? 0 };
  },
  post: async (text) => {
    const pane = frontPane();
    const outcome = pane && (await postText(pane, text));
    if (!outcome?.ok) throw new Error(outcome ? inWords(outcome.problem) : 'open a thread in the chat first');
    return outcome.answer.version;
  },
  waiting: () => state.traces.peek().find((trace) => trace.stage === 'written' && trace.aggregate === frontPane()?.selected.peek())?.version ?? 0,
  attempts: () => state.traces.peek()[0]?.attempts ?? 0,
  rebuild: async (meanwhile) => {
    const pane = frontPane();
    if (!pane) throw new Error('open a thread in the chat first');
    try {
      return await rebuild(async (now) => {
        await lookAtSecond(pane);
        await meanwhile(now, second.peek());
      });
    } finally {
      second.value = null;
    }
  },
  ask,
  get withToken() {
    return state.session.peek().account !== undefined;
  },
};

/** The chat, and its commands' way. In the failure lab, the lab stands above the chat. */
function Front() {
  const open = state.view.value === 'lab' ? lab.value : null;
  return (
    <>
      {open ? (
        <div class="broken">
          <open.View />
          <Chat />
        </div>
      ) : (
        <Chat />
      )}
      <Flow Map={Map} hint="Send a message: it appears here and moves from left to right." />
    </>
  );
}

export const front: View = { id: 'chat', name: 'Chat', Body: Front };
export const past: View = { id: 'history', name: 'Time travel', Body: History, shown: () => !frontPane()?.thread.value || frontPane()?.admin === true }; // extra:history
export const broken: View = { id: 'lab', name: 'Failure lab', Body: Front, shown: () => lab.value !== null };

function Tools() {
  return (
    <>
      {lab.value && <lab.value.Banner lost={lostByTour()} find={findLost} />}
      <TourButton />
    </>
  );
}

/** Shows what the people see whose names the page knows; who has logged in sees their own. */
function recall(): void {
  const { account } = state.session.peek();
  if (account) panes.value = [new Pane(account)];
  else act.recall();
}

async function begin(): Promise<void> {
  const { account, lab: hasLab, operator } = state.session.peek();
  if (hasLab && operator) {
    const script = '/lab/lab.js';
    const loaded = (await import(script).catch(() => null)) as { open: (page: PageForLab) => Lab } | null;
    const opened = loaded?.open(pageForLab);
    if (opened) brake.value = { ms: () => opened.faults.value?.hold_ms ?? 0, stopped: () => stopped(opened), hold: (ms) => opened.set({ hold_ms: ms }) };
    lab.value = opened ?? null; // without its script, there is none until the page is loaded again
  }
  for (const pane of panes.value) {
    if (account) void act.readName(pane);
    void act.loadThreads(pane);
  }
  resume();
}

/** Reads the threads anew: the count of unread messages is in the title. */
function tick(): void {
  for (const pane of panes.peek().filter((each) => !each.asking)) {
    pane.asking = true;
    void act.loadThreads(pane).finally(() => (pane.asking = false));
  }
}

export const others: Omit<Application, 'views' | 'aggregates'> = {
  Tools, Top: Tour, look, recall, begin, tick,
  connected: reload, // extra:history
  settled: (trace) => void readEvent(trace), // extra:history
  Section: tasks.Tasks, // extra:tasks
  load: () => void tasks.load(frontPane()), // extra:tasks
};

effect(() => {
  const unread = unreadByAll();
  document.title = unread > 0 ? `(${unread}) Threads` : 'Threads';
});
