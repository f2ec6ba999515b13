package tasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/chat"
)

// Store is where tasks, their inputs and results are. It creates tasks for those who ask, and shows them to these, their
// creators. All fields but Keys are required. It is safe for concurrent use.
type Store struct {
	Events EventStore
	Keys   *erasure.Keyring // nil: erasure is off
	// Handle handles commands on tasks.
	Handle func(context.Context, es.Request[task.Order]) (es.Result, error)
	// Thread reads the latest state of a thread.
	Thread func(context.Context, es.AggregateID) (es.State[thread.Thread], error)
}

// EventStore is the part of [es.Store] that has the events of tasks and threads, and the inputs and results of tasks.
type EventStore interface {
	es.Reader
	es.Spool
}

// ErrNoRoom: the inputs and results of the creator's or the tenant's tasks hold too many bytes.
var ErrNoRoom = ident.Conflict("task_storage_full",
	"the inputs and results of your tasks take all the room there is for an account or tenant; wait until tasks are done, cancel some, or wait until results expire")

// Kept is how long inputs and results are kept after the task was requested. The input is deleted once the task is
// finished.
const Kept = 7 * 24 * time.Hour

// The files of a task.
const (
	inputFile  = "input"
	resultFile = "result"
)

// fileOf returns one of the files of a task.
func fileOf(tenant es.Tenant, creator string, id task.ID, what string) es.File {
	return es.File{Tenant: tenant, Owner: creator, Name: "task-" + id.String() + "-" + what, Expires: expiryOf(id)}
}

// put stores parts of a file. It fails with [ErrNoRoom], and stores nothing, if there is no room for them.
func (s Store) put(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	err := s.Events.PutParts(ctx, file, first, parts...)
	if errors.Is(err, es.ErrSpoolFull) {
		err = ErrNoRoom
	}
	return err
}

// expiryOf returns when the files of a task expire. It follows from the id, so that everybody knows it.
func expiryOf(id task.ID) time.Time { return id.ULID().Timestamp().Add(Kept) }

// Details is a task with everything known about it.
type Details struct {
	Row
	Request  task.Request
	Progress task.Progress
	Envelope es.Envelope // of the event that created it
}

// file returns one of the files of the task.
func (d Details) file(what string) es.File { return fileOf(d.Tenant, d.CreatedBy.String(), d.ID, what) }

// find returns a task as its first and its last event describe it, or [task.ErrTaskNotFound].
func (s Store) find(ctx context.Context, key es.AggregateID) (found Details, err error) {
	head, err := s.Events.Head(ctx, key)
	if err == nil && head.Version == 0 {
		err = task.ErrTaskNotFound
	}
	if err != nil {
		return found, err
	}
	state, codec := task.Task{}, task.Events()
	for entry, err := range s.Events.EntriesAt(ctx, key, slices.Compact([]uint64{1, head.Version})) {
		var recorded es.Recorded[task.Event]
		if err == nil {
			recorded, err = codec.Decode(entry.Payload)
		}
		if err == nil {
			found.Row, err = next(found.Row, found.Version > 0, recorded)
		}
		if err != nil {
			return found, err
		}
		if created, begins := recorded.Event.(task.Created); begins {
			found.Request, found.Envelope = created.Request, recorded.Envelope
		}
		state = state.Apply(recorded.Event)
	}
	found.Progress = state.Progress
	return found, nil
}

// checkExport returns why the executor may not export the thread.
func (s Store) checkExport(ctx context.Context, by es.Caller, id thread.ID) error {
	state, err := s.Thread(ctx, chat.ThreadKey(by.Tenant, id))
	if err != nil {
		return err
	}
	user, err := ident.Parse[ident.UserAccount](by.Executor)
	if err != nil {
		return err
	}
	return state.Value.CheckAdmin(user)
}

// Later is a command whose answer is fetched later, as stored until it is handled.
type Later struct {
	Path           string `json:"path"`
	Body           []byte `json:"body"`
	IdempotencyKey string `json:"idempotency_key"`
	IfVersion      uint64 `json:"if_version,omitempty"`
}
