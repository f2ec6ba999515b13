package command

import (
	"context"
	"errors"
	"time"

	"example.com/threads/usecase"
)

// Repository keeps aggregates of one type. All methods may be called concurrently.
type Repository[S, E any] interface {
	// Load returns the aggregate's state, which may come from memory and be behind what other processes have written: a
	// Save on it then fails, and Confirm tells. An aggregate that does not exist has the zero State.
	Load(ctx context.Context, key usecase.Key) (State[S], error)

	// Reload returns the true latest state.
	Reload(ctx context.Context, key usecase.Key) (State[S], error)

	// Confirm fails with ErrConflict when an event has followed the version. For version 0 it makes sure that the store
	// really has nothing of the aggregate.
	Confirm(ctx context.Context, key usecase.Key, version uint64) error

	// Save writes all of it or nothing. It fails with ErrConflict when the state that was decided on is not the latest,
	// with a *HandledError when one of the receipts' commands was handled before, and with usecase.ErrUnavailable when the
	// outcome is unknown.
	Save(ctx context.Context, key usecase.Key, write Write[S, E]) error

	// AskForTurn makes a Save of another process that heeds it fail with ErrConflict, so that it knows of this one.
	AskForTurn(ctx context.Context, key usecase.Key) error

	// Receipt returns what was written under a command's id; false when there is nothing, or it has expired.
	Receipt(ctx context.Context, tenant usecase.Tenant, commandID string) (Receipt, bool, error)

	// SaveSnapshot stores the state as a snapshot, for the aggregate to be loaded from. It returns when the snapshot can be
	// read.
	SaveSnapshot(ctx context.Context, key usecase.Key, state State[S]) error
}

// Write is what follows from commands that were decided together: at most [MaxWrite] events and receipts.
type Write[S, E any] struct {
	Before   uint64 // the version that was decided on
	Events   []usecase.Recorded[E]
	After    State[S] // with the events
	Receipts []Receipt
	Heed     bool // this process knows of no other that writes to the aggregate, and wants to be told
}

// MaxWrite is how many events and receipts are saved in one write at most: with what the store locks the aggregate with,
// they must fit in its transaction. DynamoDB's holds 100 items.
const MaxWrite = 98

// maxBatch is how many commands are decided together at most: as many as fit with an event and a receipt each.
const maxBatch = MaxWrite / 2

// ErrConflict says that the state that was decided on is not the latest: load again, decide again.
var ErrConflict = errors.New("the aggregate has changed since it was loaded")

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
