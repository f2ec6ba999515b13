package tasks

import (
	"context"
	"iter"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/task"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/query"
)

// Files keeps the input and the results of tasks, in numbered parts. Event stores implement it.
type Files interface {
	// PutPart stores a part, in place of one with the same number.
	PutPart(ctx context.Context, tenant, file string, number uint64, content []byte, expires time.Time) error
	// Part reads a part; false if it was never stored or has expired.
	Part(ctx context.Context, tenant, file string, number uint64) ([]byte, bool, error)
}

// Kept is how long the input and the result of a task are kept after the task was created.
const Kept = 7 * 24 * time.Hour

// The names of a task's files.
func inputOf(id task.ID) string  { return "task-" + id.String() + "-input" }
func resultOf(id task.ID) string { return "task-" + id.String() + "-result" }

// Details is all there is to know of a task.
type Details struct {
	query.Task
	Request  task.Request
	Progress task.Progress
	Envelope usecase.Envelope // of the event that created it
}

// Reader reads tasks from the journal, consistently. It is safe for concurrent use.
type Reader interface {
	// Find returns a task, or [task.ErrTaskNotFound].
	Find(ctx context.Context, tenant usecase.Tenant, id task.ID) (Details, error)
}

// Handler handles commands on tasks.
type Handler interface {
	Handle(ctx context.Context, request command.Request[task.Order]) (command.Result, error)
}

// Threads says who may read the history of a thread.
type Threads interface {
	// CheckExport returns why the user may not export the thread; nil if they may.
	CheckExport(ctx context.Context, tenant usecase.Tenant, id thread.ID, user ident.UserID) error
}

// Journal reads the events of aggregates.
type Journal interface {
	// Version is the number of the aggregate's last event; 0: it does not exist.
	Version(ctx context.Context, key usecase.Key) (uint64, error)
	// Events yields the events with after < number <= upTo as JSON, in order. It ends after an error.
	Events(ctx context.Context, key usecase.Key, after, upTo uint64) iter.Seq2[[]byte, error]
}

// Line is a command as a client sends it, with its conditions.
type Line struct {
	Raw []byte // a line of an import, as it was sent; or empty
	Later
	Caller    usecase.Caller // the executor is the task's creator
	ForOthers bool           // the command may name another executor
}

// Later is a command whose answer is fetched later, as it is kept until it is handled.
type Later struct {
	Path           string `json:"path"`
	Body           []byte `json:"body"`
	IdempotencyKey string `json:"idempotency_key"`
	IfVersion      uint64 `json:"if_version,omitempty"`
}

// Outcome is what became of a command: its answer, or the problem for which it was rejected, as JSON.
type Outcome struct {
	Body     []byte
	Rejected string // for people: why it was rejected; empty: it was accepted
}

// Commands has commands handled as if they had come from clients.
type Commands interface {
	// Prepare reads a command. Commands with the same key are for the same aggregate; without a key, its order among
	// others does not matter.
	Prepare(line Line) (key string, handle func(context.Context) (Outcome, error))
}
