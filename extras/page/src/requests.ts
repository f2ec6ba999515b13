// Code generated from the OpenAPI document by go generate. DO NOT EDIT.

export type AccountAnswer = { account_id: string; version: number; };

export type AddMember = { executor_id: Identifier; role: 'Admin' | 'Member'; thread_id: Identifier; user_account_id: Identifier; };

export type CancelTask = { executor_id: Identifier; task_id: Identifier; };

export type ChangeMemberRole = { executor_id: Identifier; role: 'Admin' | 'Member'; thread_id: Identifier; user_account_id: Identifier; };

export type CloseAccount = { executor_id: Identifier; };

export type CreateThread = { executor_id: Identifier; name: string; };

export type CreatedAnswer = { code?: string; thread_id: string; version: number; };

export type DeleteMessage = { executor_id: Identifier; message_id: Identifier; thread_id: Identifier; };

export type DeleteThread = { executor_id: Identifier; thread_id: Identifier; };

export type DevUser = { account: string; name: string; };

export type Difference = { aid: string; expected: string; found: string; next?: string; repaired: boolean; row: string; tenant: string; what: string; };

export type EditMessage = { executor_id: Identifier; message_id: Identifier; text: string; thread_id: Identifier; };

export type EraseAccount = { executor_id: Identifier; };

export type Event = { aid: string; event: unknown; position?: number; seq_nr: number; tenant: string; };

export type ExportThread = { executor_id: Identifier; thread_id: Identifier; };

export type Faults = { break_next: boolean; dead: boolean; delay_ms: number; delivery: string; hold_ms: number; lose_answer: boolean; paused: boolean; replay_events: number; replay_ms: number; unreadable: number; };

export type FieldError = { location: string; message: string; };

export type Found = { events: Array<Event>; further?: string; next?: number; };

export type Health = { active?: boolean; behind_at_least?: boolean; behind_records?: number; behind_seconds?: number; drifted_aggregates?: number; parked_aggregates?: number; reason?: string; rebuild?: Rebuild; status: string; warnings?: Array<string>; };

export type Identifier = string | { value: string; };

export type Letter = { aid: string; attempts: number; event?: unknown; event_id: string; next?: string; parked_at: string; projection: string; reason: string; retry_at: string; seq_nr: number; tenant: string; };

export type Letters = { parked: Array<Letter>; };

export type MemberAnswer = { member_id: string; thread_id: string; version: number; };

export type MessageAnswer = { message_id: string; thread_id: string; version: number; };

export type NewRows = { count: number; made: boolean; members: Array<string>; messages: Array<string>; version: number; };

export type News = { events?: Array<Event>; head?: number; ordered?: boolean; projected?: Array<Projected>; skipped?: number; };

export type OnTenant = { executor_id: Identifier; tenant_code: string; };

export type Order = { aid: string; projection: string; reason: string; repair: boolean; seq_nr: number; tenant: string; };

export type PostMessage = { executor_id: Identifier; text: string; thread_id: Identifier; };

export type Problem = { code: string; current_version?: number; detail: string; errors?: Array<FieldError>; status: number; title: string; };

export type ProgramStatus = { figures: Record<string, number>; health?: Health; name: string; up: boolean; };

export type Projected = { aid: string; tenant: string; version: number; };

export type Rebuild = { events: number; events_total: number; failure?: string; interrupted: boolean; phase: string; };

export type RegisterAccount = { executor_id: Identifier; name: string; };

export type RejectedLine = { line: number; problem: unknown; request?: unknown; sealed?: string; };

export type RemoveMember = { executor_id: Identifier; thread_id: Identifier; user_account_id: Identifier; };

export type RenameAccount = { executor_id: Identifier; name: string; };

export type RenameThread = { executor_id: Identifier; name: string; thread_id: Identifier; };

export type Seed = { count: number; first: number; message: Record<string, string>; };

export type SessionAnswer = { account?: string; auth: string; csrf?: string; lab: boolean; name?: string; operator: boolean; users?: Array<DevUser>; };

export type SnapshotAnswer = { snapshot_version: number; thread_id: string; };

export type StatusAnswer = { programs: Array<ProgramStatus>; };

export type TakeSnapshot = { executor_id: Identifier; thread_id: Identifier; };

export type TaskAnswer = { created_at: string; created_by: string; done: number; kind: 'command' | 'export_thread' | 'import'; message: string; rejected: number; status: 'cancelled' | 'failed' | 'queued' | 'running' | 'succeeded'; task_id: string; total: number; updated_at: string; };

export type TaskReply = { task_id: string; };

export type TenantAnswer = { tenant_code: string; version: number; };

export type ThreadAnswer = { thread_id: string; version: number; };

export type Verification = { complete: boolean; differences: Array<Difference>; repaired: number; verified: number; wrong: number; };

/** By method and path, with the types of bodies and answers. */
export type Requests = {
  'POST /accounts/close': { body: CloseAccount; answer: AccountAnswer };
  'POST /accounts/erase': { body: EraseAccount; answer: AccountAnswer };
  'POST /accounts/register': { body: RegisterAccount; answer: AccountAnswer };
  'POST /accounts/rename': { body: RenameAccount; answer: AccountAnswer };
  'GET /lab/new-rows': { body: undefined; answer: NewRows };
  'POST /lab/second-writer': { body: PostMessage; answer: MessageAnswer };
  'POST /lab/seed': { body: { count?: number; first?: number; message?: Record<string, string>; }; answer: Seed };
  'GET /lab/state': { body: undefined; answer: Faults };
  'POST /lab/state': { body: { break_next?: boolean; dead?: boolean; delay_ms?: number; delivery?: string; hold_ms?: number; lose_answer?: boolean; paused?: boolean; replay_events?: number; replay_ms?: number; unreadable?: number; }; answer: Faults };
  'GET /operate/dead-letters': { body: undefined; answer: Letters };
  'POST /operate/dead-letters/retry': { body: { aid?: string; projection?: string; reason?: string; repair?: boolean; seq_nr?: number; tenant?: string; }; answer: Record<string, boolean> };
  'POST /operate/dead-letters/skip': { body: { aid?: string; projection?: string; reason?: string; repair?: boolean; seq_nr?: number; tenant?: string; }; answer: Record<string, boolean> };
  'GET /operate/events': { body: undefined; answer: News };
  'GET /operate/journal': { body: undefined; answer: Found };
  'POST /operate/rows/rebuild': { body: { aid?: string; projection?: string; reason?: string; repair?: boolean; seq_nr?: number; tenant?: string; }; answer: Record<string, boolean> };
  'POST /operate/rows/verify': { body: { aid?: string; projection?: string; reason?: string; repair?: boolean; seq_nr?: number; tenant?: string; }; answer: Verification };
  'GET /session': { body: undefined; answer: SessionAnswer };
  'GET /status': { body: undefined; answer: StatusAnswer };
  'POST /tasks/cancel': { body: CancelTask; answer: TaskReply };
  'POST /tasks/export_thread': { body: ExportThread; answer: TaskReply };
  'POST /tasks/import': { body: string; answer: TaskReply };
  'GET /tasks/{task_id}': { body: undefined; answer: TaskAnswer };
  'GET /tasks/{task_id}/result': { body: undefined; answer: string };
  'POST /tenants/create': { body: OnTenant; answer: TenantAnswer };
  'POST /tenants/reactivate': { body: OnTenant; answer: TenantAnswer };
  'POST /tenants/suspend': { body: OnTenant; answer: TenantAnswer };
  'POST /threads/add_member': { body: AddMember; answer: MemberAnswer };
  'POST /threads/change_member_role': { body: ChangeMemberRole; answer: MemberAnswer };
  'POST /threads/create': { body: CreateThread; answer: CreatedAnswer };
  'POST /threads/delete': { body: DeleteThread; answer: ThreadAnswer };
  'POST /threads/delete_message': { body: DeleteMessage; answer: MessageAnswer };
  'POST /threads/edit_message': { body: EditMessage; answer: MessageAnswer };
  'POST /threads/post_message': { body: PostMessage; answer: MessageAnswer };
  'POST /threads/remove_member': { body: RemoveMember; answer: MemberAnswer };
  'POST /threads/rename': { body: RenameThread; answer: ThreadAnswer };
  'POST /threads/snapshot': { body: TakeSnapshot; answer: SnapshotAnswer };
};

/** The names of the events, by the type of the aggregate. */
export const eventNames: Record<string, string[]> = {
  account: ['AccountClosed', 'AccountErased', 'AccountRegistered', 'AccountRenamed'],
  thread: ['Created', 'ThreadCreated', 'ThreadDeleted', 'ThreadMemberAdded', 'ThreadMemberRemoved', 'ThreadMemberRoleChanged', 'ThreadMessageDeleted', 'ThreadMessageEdited', 'ThreadMessagePosted', 'ThreadRenamed'],
};
