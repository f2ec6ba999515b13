package command

import (
	"context"
	"errors"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Repository keeps threads. All methods may be called concurrently.
type Repository interface {
	// Load returns the thread's state, which may come from memory and be behind what other processes have written: a
	// Save on it then fails, and IsLatest tells. A thread that does not exist is the zero Thread.
	Load(ctx context.Context, key usecase.Key) (thread.Thread, error)

	// Reload returns the true latest state.
	Reload(ctx context.Context, key usecase.Key) (thread.Thread, error)

	// IsLatest tells whether no event has followed state: true for a zero Thread that does not exist.
	IsLatest(ctx context.Context, key usecase.Key, state thread.Thread) (bool, error)

	// Save writes events that were decided on before, one after the other, and the receipts with them: all or nothing.
	// There are at most MaxBatch of either. It fails with ErrConflict when before is not the latest state, with a
	// *HandledError when one of the receipts' commands was handled before, and with usecase.ErrUnavailable when the outcome
	// is unknown.
	Save(ctx context.Context, key usecase.Key, before thread.Thread, events []usecase.Recorded[thread.Event], receipts []Receipt) error

	// Receipt returns what was written under a command's id; false when there is nothing, or it has expired.
	Receipt(ctx context.Context, tenant usecase.Tenant, commandID string) (Receipt, bool, error)

	// SaveSnapshot stores the state as a snapshot, for the thread to be loaded from. It returns when the snapshot can be
	// read.
	SaveSnapshot(ctx context.Context, key usecase.Key, state thread.Thread) error
}

// MaxBatch is how many commands are saved in one write at most. An event and a receipt for each, and what the store
// locks the thread with, must fit in its transaction; DynamoDB's holds 100 items.
const MaxBatch = 49

// ErrConflict says that the state that was decided on is not the latest: load again, decide again.
var ErrConflict = errors.New("the thread has changed since it was loaded")

// Receipt is what is remembered of a command that was sent with an idempotency key.
type Receipt struct {
	CommandID   string
	Fingerprint string // of the request: the same key with another one is a mistake
	Result      Result
	ExpiresAt   time.Time
}

// HandledError says that a command was handled before, and how.
type HandledError struct{ Receipt Receipt }

func (e *HandledError) Error() string {
	return "command " + e.Receipt.CommandID + " was handled before"
}
