// extra:tasks
// Tasks: imports and exports are started here and followed until they are finished.
import { signal } from '@preact/signals';
import { asker, check, command, inWords, query, readList } from '../api.ts';
import type { Command, Fields } from '../api.ts';
import { sure, when } from '../common.tsx';
import { follow } from '../live.ts';
import { taskChanged, taskList } from '../queries.ts';
import type { ShownTask as Task } from '../queries.ts';
import type { Problem, RejectedLine as Rejected } from '../requests.ts';
import type { Person } from '../state.ts';
import { arrived } from '../traces.ts';
import { counted, reasonOf } from '../words.ts';
import { frontPane } from './panes.ts';
import type { Pane } from './panes.ts';

/* GraphQL:
fragment ShownTask on Task {
  id taskId kind status done total rejected message version createdAt updatedAt createdBy
}

query taskList($viewer: ID!, $first: Int!, $after: String) {
  tasks(userAccountId: $viewer, first: $first, after: $after) { edges { node { ...ShownTask } } pageInfo { hasNextPage endCursor } }
}

subscription taskChanged($task: ID!, $viewer: ID!) { taskChanged(taskId: $task, userAccountId: $viewer) { ...ShownTask } }
*/

const known = {
  viewer: '', // whose tasks these are
  tasks: signal<Task[]>([]), // the latest first
  listed: 20, // how many are asked for
  hasMore: signal(false),
  problem: signal(''),
  said: signal(''),
  rejected: signal<Record<string, Rejected[]>>({}), // by task
};

function say(said: string, problem = ''): void {
  known.said.value = said;
  known.problem.value = problem;
}

const followed = new Map<string, () => void>(); // by task: ends the subscription

const finished = (task: Task): boolean => task.status !== 'queued' && task.status !== 'running';

/** Reads the latest tasks of who is in front, and follows those that are not finished. */
export async function load(pane: Pane | undefined, token = ''): Promise<void> {
  const viewer = pane?.id ?? '';
  if (known.viewer !== viewer) {
    for (const stop of followed.values()) stop();
    followed.clear();
    known.viewer = viewer;
    known.tasks.value = [];
    known.listed = 20;
    known.hasMore.value = false;
    say('');
  }
  if (!viewer) return;
  try {
    const { list, more } = await readList(known.listed, async (range) => (await query(taskList, { viewer, ...range }, token)).tasks);
    if (known.viewer !== viewer) return;
    known.tasks.value = list.map(newer);
    known.hasMore.value = more;
    known.problem.value = '';
    for (const task of list) arrived(`task-${task.id}`, task.version, { tasks: [task] });
    for (const task of known.tasks.peek()) if (!finished(task) && !followed.has(task.id)) keepUp(viewer, task.id);
  } catch (error) {
    known.problem.value = reasonOf(error);
  }
}

function loadMore(pane: Pane): void {
  known.listed *= 2;
  void load(pane);
}

/** The newer of what was read and what was pushed in the meantime. */
const newer = (read: Task): Task => known.tasks.peek().find((each) => each.id === read.id && each.version > read.version) ?? read;

function keepUp(viewer: string, id: string): void {
  const stop = follow(
    taskChanged, { task: id, viewer },
    ({ taskChanged: pushed }) => {
      arrived(`task-${id}`, pushed.version, { taskChanged: pushed });
      known.tasks.value = known.tasks.peek().map((each) => (each.id === id ? pushed : each));
      if (finished(pushed)) followed.delete(id);
    },
    (code, message) => {
      followed.delete(id);
      if (code === 'NOT_FOUND' || code === 'FORBIDDEN') known.problem.value = message;
      else {
        const again = setTimeout(() => keepUp(viewer, id), 1000); // it passes
        followed.set(id, () => clearTimeout(again));
      }
    },
  );
  followed.set(id, stop);
}

/** Starts or cancels a task, and shows the outcome. */
async function order<C extends Command>(pane: Pane, path: C, body: Fields<C> | File, said: string): Promise<boolean> {
  say('');
  const outcome = await command(path, pane.viewer, body);
  if (outcome.ok) say(said);
  else say('', inWords(outcome.problem));
  if (outcome.ok) await load(pane, outcome.token);
  return outcome.ok;
}

const maxImport = 16 << 20; // bytes

async function importFile(pane: Pane, form: HTMLFormElement): Promise<void> {
  const file = (form.elements.namedItem('file') as HTMLInputElement).files?.[0];
  const wrong = !file ? 'Choose a file first.' : file.size > maxImport ? 'The file is larger than 16 MiB: split it.' : '';
  if (!file || wrong) return say('', wrong);
  // In memory, so that a retry sends the same bytes.
  const lines = new File([await file.arrayBuffer()], file.name, { type: 'application/x-ndjson' });
  if (await order(pane, '/tasks/import', lines, `The import of ${file.name} has begun.`)) form.reset();
}

async function resultOf(task: Task, person: Person): Promise<Blob | null> {
  try {
    const response = await fetch(`/api/write/tasks/${task.id}/result`, { headers: asker(person) });
    if (response.ok) return await response.blob();
    const { detail } = (await response.json()) as { detail?: string };
    known.problem.value = detail ?? `the server answers ${response.status}`;
  } catch {
    known.problem.value = 'The write-api can not be reached.';
  }
  return null;
}

async function readRejected(task: Task, person: Person): Promise<void> {
  if (known.rejected.peek()[task.id]) return;
  const result = await resultOf(task, person);
  const lines = (await result?.text())?.split('\n').filter((line) => line !== '') ?? [];
  if (result) known.rejected.value = { ...known.rejected.peek(), [task.id]: lines.map(rejected) };
}

function rejected(line: string): Rejected {
  const read = JSON.parse(line) as Rejected;
  check('RejectedLine', read);
  return read;
}

async function save(task: Task, person: Person): Promise<void> {
  const result = await resultOf(task, person);
  if (!result) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(result);
  link.download = `${task.kind}-${task.id}.ndjson`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it later
}

export function Tasks() {
  const pane = frontPane();
  return (
    <section class="card wide" aria-label="Tasks">
      <h2>{pane ? `Tasks of ${pane.viewer.name}` : 'Tasks'}</h2>
      {pane ? <Begin pane={pane} /> : <p class="quiet">Open the chat first: a task belongs to somebody.</p>}
      {known.problem.value && <p class="problem" role="alert">{known.problem.value}</p>}
      <p role="status">{known.said.value}</p>
      {pane && known.tasks.value.length === 0 && <p>There is no task yet.</p>}
      <ul class="tasks">{pane && known.tasks.value.map((task) => <TaskView key={task.id} task={task} pane={pane} />)}</ul>
      {pane && known.hasMore.value && <button onClick={() => loadMore(pane)}>Earlier tasks</button>}
    </section>
  );
}

function Begin({ pane }: { pane: Pane }) {
  const submit = (event: Event): void => {
    event.preventDefault();
    void importFile(pane, event.target as HTMLFormElement);
  };
  return (
    <>
      <p class="quiet">
        Long work goes on while you do something else. An import takes a file with a command a line, such as{' '}
        <code>{'{"path": "/threads/post_message", "body": {"thread_id": "…", "text": "Hello"}}'}</code>.
      </p>
      <div class="row">
        <form class="row" onSubmit={submit}>
          <label>
            <span class="hidden">File of commands</span>
            <input type="file" name="file" accept=".ndjson,.jsonl,.json,.txt" />
          </label>
          <button>Import</button>
        </form>
        {pane.thread.value && pane.admin && (
          <button onClick={() => void order(pane, '/tasks/export_thread', { thread_id: pane.selected.peek() }, 'The export has begun.')}>
            Export the events of {pane.thread.value.name}
          </button>
        )}
      </div>
    </>
  );
}

const kinds: Record<string, string> = { import: 'Import', export_thread: 'Export of a thread', command: 'Command' };

/** How a task has ended. An import succeeds when every line was tried, whatever came of it. */
function outcome(task: Task): string {
  if (task.kind !== 'import' || task.status !== 'succeeded' || task.rejected === 0) return task.status;
  return task.rejected === task.total ? 'finished: every line was rejected' : 'finished: some lines were rejected';
}

function TaskView({ task, pane }: { task: Task; pane: Pane }) {
  const unit = task.kind === 'import' ? 'lines' : 'events';
  const counts = task.total > 0 ? `${task.done.toLocaleString()} of ${task.total.toLocaleString()} ${unit}` : '';
  const cancel = async (): Promise<void> => {
    if (!(await sure(`Cancel this task? What it has done${counts && `, ${counts},`} stays, and it can't go on again.`, 'Cancel the task'))) return;
    void order(pane, '/tasks/cancel', { task_id: task.id }, 'The task is cancelled; what it has done stays.');
  };
  return (
    <li aria-label={`${kinds[task.kind] ?? task.kind} …${task.id.slice(-6)}`}>
      <div class="row">
        <span class="grow">
          <b>{kinds[task.kind] ?? task.kind}</b> <small>…{task.id.slice(-6)}, {when(task.createdAt)}</small>
        </span>
        <span class={`status ${task.rejected > 0 && task.status === 'succeeded' ? 'partly' : task.status}`} role="status">
          {outcome(task)}
        </span>
        {!finished(task) && (
          <button class="danger" onClick={() => void cancel()}>
            Cancel
          </button>
        )}
        {finished(task) && (
          <button class="plain" onClick={() => void save(task, pane.viewer)}>
            Save the result
          </button>
        )}
      </div>
      {!finished(task) && <progress max={task.total || 1} value={task.done} aria-label="Progress" />}
      <p class="quiet">
        {counts}
        {task.rejected > 0 && `, ${task.rejected.toLocaleString()} rejected`}
      </p>
      {task.message && <p class="problem">{task.message}</p>}
      {finished(task) && task.kind === 'import' && task.rejected > 0 && <RejectedLines task={task} person={pane.viewer} />}
    </li>
  );
}

const shownLines = 20;

function RejectedLines({ task, person }: { task: Task; person: Person }) {
  const lines = known.rejected.value[task.id] ?? [];
  return (
    <details onToggle={() => void readRejected(task, person)}>
      <summary>Why they were rejected</summary>
      <ol>
        {lines.slice(0, shownLines).map(({ line, request, problem }) => (
          <li key={line}>
            Line {line}: {(problem as Problem).detail} <code>{typeof request === 'string' ? request : JSON.stringify(request)}</code>
          </li>
        ))}
        {lines.length > shownLines && <li>{counted(lines.length - shownLines, 'more is', 'more are')} in the result.</li>}
      </ol>
    </details>
  );
}
