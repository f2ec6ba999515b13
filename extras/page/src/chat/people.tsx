// Who is in a thread, and what its Admins can do.
import { hue, Problem, sure, typed } from '../common.tsx';
import type { ShownMember } from '../queries.ts';
import { nameOf, state } from '../state.ts';
import * as act from './actions.ts';
import type { Pane } from './panes.ts';

export function People({ pane, at }: { pane: Pane; at: number }) {
  const close = async (): Promise<void> => {
    const name = pane.viewer.name;
    if (await sure(`Close ${name}'s account? It leaves all threads, and can't be opened again.`, `Close ${name}'s account for ever`)) void act.closeAccount(pane);
  };
  return (
    <div class="people" tabIndex={-1}>
      <ul>
        {pane.members.map((member) => (
          <Person key={member.id} pane={pane} member={member} />
        ))}
      </ul>
      {pane.manyMembers.value && (
        <button class="plain" onClick={() => ((pane.wantedMembers = pane.further.peek().length + 100), void act.readMembers(pane))}>
          More people
        </button>
      )}
      <Problem of={pane} field="further" />
      <Problem of={pane} field="members" />
      {pane.admin && <AddMember pane={pane} at={at} />}
      {pane.admin && <AdminTools pane={pane} at={at} />}
      <button class="plain danger" onClick={close}>
        Close {pane.viewer.name}'s account
      </button>
    </div>
  );
}

function Person({ pane, member }: { pane: Pane; member: ShownMember }) {
  const self = member.userAccountId === pane.id;
  const name = nameOf(member.account?.name, member.userAccountId);
  const other = member.role === 'ADMIN' ? 'Member' : 'Admin';
  const remove = async (): Promise<void> => {
    const [text, yes] = self ? ['Leave this thread? Only an Admin can add you again.', 'Leave'] : [`Remove ${name} from this thread? ${name} can't read it any more.`, `Remove ${name}`];
    if (await sure(text, yes)) void act.removeMember(pane, member.userAccountId);
  };
  const change = async (): Promise<void> => {
    if (self && !(await sure('Be a Member from now on? Only another Admin can make you an Admin again.', 'Be a Member'))) return;
    void act.changeRole(pane, member.userAccountId, other);
  };
  return (
    <li>
      <span class="avatar small" style={hue(member.userAccountId)} aria-hidden="true">
        {[...name][0]}
      </span>
      <span class="grow">
        <bdi>{name}</bdi>
        {self && ' (you)'}
        {member.account?.closed && ' · account closed'} <small>{member.role === 'ADMIN' ? 'Admin' : 'Member'}</small>
      </span>
      {pane.admin && (
        <button class="plain" onClick={() => void change()} aria-label={`Make ${other}: ${self ? 'yourself' : name}`}>
          Make {other}
        </button>
      )}
      {(pane.admin || self) && (
        <button class="plain" onClick={remove} aria-label={self ? 'Leave the thread' : `Remove ${name}`}>
          {self ? 'Leave' : 'Remove'}
        </button>
      )}
    </li>
  );
}

function AddMember({ pane, at }: { pane: Pane; at: number }) {
  const others = state.people.value.filter((person) => !pane.members.some((member) => member.userAccountId === person.id));
  const called = (name: string): typeof others => others.filter((person) => person.name.toLowerCase() === name.trim().toLowerCase());
  const submit = async (event: Event): Promise<void> => {
    const [name, form] = typed(event, 'user');
    const [found, another] = called(name);
    if (another) return pane.problem('add', `Several people are called ${name.trim()}: choose one from the list, or type an account id.`);
    if (await act.addMember(pane, found?.id ?? act.idOf(name), 'Member')) form.reset();
  };
  return (
    <form class="row" onSubmit={submit}>
      <label class="grow">
        <span class="hidden">Name or account id of who is to be added</span>
        <input name="user" list={`others-${at}`} placeholder="Add a person: name or account id" dir="auto" aria-describedby={`add-${at}`} />
      </label>
      <datalist id={`others-${at}`}>
        {others.map((person) => (
          <option key={person.id} value={called(person.name).length > 1 ? person.id : person.name}>
            {person.name}
          </option>
        ))}
      </datalist>
      <button>Add</button>
      <Problem of={pane} field="add" id={`add-${at}`} />
    </form>
  );
}

function AdminTools({ pane, at }: { pane: Pane; at: number }) {
  const submit = async (event: Event): Promise<void> => {
    const [name, form] = typed(event, 'name');
    if ((await act.rename(pane, name)).ok) form.reset();
  };
  const remove = async (): Promise<void> => {
    if (await sure(`Delete the thread "${pane.thread.value?.name}" for everybody? It can't be undone.`, 'Delete the thread for ever')) void act.deleteThread(pane);
  };
  return (
    <form class="row" onSubmit={submit}>
      <label class="grow">
        <span class="hidden">New name of the thread</span>
        <input name="name" placeholder="New name of the thread" dir="auto" id={`rename-${at}`} />
      </label>
      <button>Rename</button>
      <button type="button" class="danger" onClick={remove}>
        Delete thread
      </button>
    </form>
  );
}
