package tasks

import (
	"context"
	"iter"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/query"
)

// Files stores the inputs and results of tasks in numbered parts, and bounds the bytes that an account and a tenant
// hold.
type Files interface {
	// PutParts stores parts with the numbers from first, replacing those that exist. It fails with [ErrNoRoom], and
	// stores nothing, if the creator or the tenant would hold too many bytes.
	PutParts(ctx context.Context, file File, first uint64, parts ...[]byte) error
	// Part reads a part; false if it was never stored or has expired.
	Part(ctx context.Context, file File, number uint64) ([]byte, bool, error)
	// Delete deletes a file, if it exists.
	Delete(ctx context.Context, file File) error
	// DeleteExpired deletes the files that have expired, and counts them.
	DeleteExpired(ctx context.Context) (int, error)
}

// ErrNoRoom: the inputs and results of the creator's or the tenant's tasks hold too many bytes.
var ErrNoRoom = ident.Conflict("task_storage_full",
	"the inputs and results of your tasks take all the room there is for an account or tenant; wait until tasks are done, cancel some, or wait until results expire")

// File is the input or the result of a task. It is deleted when it expires.
type File struct {
	Tenant  es.Tenant
	Creator ident.UserID
	Name    string
	Expires time.Time
}

// Kept is how long inputs and results are kept after the task was requested. The input is deleted once the task is
// finished.
const Kept = 7 * 24 * time.Hour

// The names of a task's files.
func inputOf(id task.ID) string  { return "task-" + id.String() + "-input" }
func resultOf(id task.ID) string { return "task-" + id.String() + "-result" }

func inputFile(tenant es.Tenant, creator ident.UserID, id task.ID) File {
	return File{tenant, creator, inputOf(id), expiryOf(id)}
}

func resultFile(tenant es.Tenant, creator ident.UserID, id task.ID) File {
	return File{tenant, creator, resultOf(id), expiryOf(id)}
}

// expiryOf returns when the files of a task expire. It follows from the id, so that everybody knows it.
func expiryOf(id task.ID) time.Time { return id.ULID().Timestamp().Add(Kept) }

// Details is a task with everything known about it.
type Details struct {
	query.Task
	Request  task.Request
	Progress task.Progress
	Envelope es.Envelope // of the event that created it
}

// Reader reads tasks from the journal, consistently. It is safe for concurrent use.
type Reader interface {
	// Find returns a task, or [task.ErrTaskNotFound].
	Find(ctx context.Context, tenant es.Tenant, id task.ID) (Details, error)
}

// Handler handles commands on tasks.
type Handler interface {
	Handle(ctx context.Context, request es.Request[task.Order]) (es.Result, error)
}

// Threads decides who may read the history of a thread.
type Threads interface {
	// CheckExport returns why the user may not export the thread; nil if they may.
	CheckExport(ctx context.Context, tenant es.Tenant, id thread.ID, user ident.UserID) error
}

// Journal reads the events of aggregates.
type Journal interface {
	// Version returns the number of the aggregate's last event; 0: it does not exist.
	Version(ctx context.Context, key es.AggregateID) (uint64, error)
	// Events yields the events with after < number <= upTo as JSON, in order. It ends after an error.
	Events(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[[]byte, error]
}

// Line is a command as a client sends it, with its conditions.
type Line struct {
	Raw    []byte // the line of an import, as sent; or empty
	Erased bool   // the author is erased, and the line with it
	Later
	Caller    es.Caller // the executor is the task's creator
	ForOthers bool      // the command may name another executor
}

// Later is a command whose answer is fetched later, as stored until it is handled.
type Later struct {
	Path           string `json:"path"`
	Body           []byte `json:"body"`
	IdempotencyKey string `json:"idempotency_key"`
	IfVersion      uint64 `json:"if_version,omitempty"`
}

// Outcome is the result of a command: its answer, or the problem of its rejection, as JSON.
type Outcome struct {
	Body     []byte
	Rejected string // for people: the reason of the rejection; empty: it was accepted
}

// Commands handles commands like those of clients.
type Commands interface {
	// Prepare parses a command. Commands with the same key are for the same aggregate. A command without a key may be
	// handled in any order.
	Prepare(line Line) (key string, handle func(context.Context) (Outcome, error))
}
