package command

import (
	"context"
	"errors"
	"time"

	"example.com/threads/es"
)

// Repository loads and saves aggregates of one type. All methods may be called concurrently.
type Repository[S, E any] interface {
	// Load returns the aggregate's state. It may come from memory and be older than the journal: a Save on it then
	// fails, and Confirm reports it. For an aggregate that does not exist it returns the zero State.
	Load(ctx context.Context, key es.Key) (State[S], error)

	// Reload returns the latest state, read from the store.
	Reload(ctx context.Context, key es.Key) (State[S], error)

	// Confirm fails with ErrConflict when the aggregate has an event after version. For version 0 it checks that the
	// store really has no event of the aggregate.
	Confirm(ctx context.Context, key es.Key, version uint64) error

	// Save writes everything or nothing. It fails with ErrConflict when write.Before is not the latest version, with a
	// *HandledError when one of the receipts' commands was handled before, and with es.ErrUnavailable when the
	// outcome is unknown.
	Save(ctx context.Context, key es.Key, write Write[S, E]) error

	// AskForTurn makes the next Save with Heed of another process fail with ErrConflict, so that the process learns
	// that this one is waiting.
	AskForTurn(ctx context.Context, key es.Key) error

	// Receipt returns the receipt of a command id; false if there is none or it has expired.
	Receipt(ctx context.Context, tenant es.Tenant, commandID string) (Receipt, bool, error)

	// SaveSnapshot stores the state as a snapshot. It returns when the snapshot can be read.
	SaveSnapshot(ctx context.Context, key es.Key, state State[S]) error
}

// Write holds the events and receipts of commands that were decided together, at most [MaxWrite].
type Write[S, E any] struct {
	Before   uint64 // the version that the commands were decided on
	Events   []es.Recorded[E]
	After    State[S] // the state after the events
	Receipts []Receipt
	Heed     bool // fail when another writer asked for a turn; set while no other writer is known
}

// MaxWrite is the maximum number of events and receipts in one write. Together with the items that lock the aggregate
// they must fit in one transaction; DynamoDB's holds 100 items.
const MaxWrite = 98

// maxBatch is the maximum number of commands in one batch: each may need an event and a receipt.
const maxBatch = MaxWrite / 2

// ErrConflict: the state that was decided on is not the latest. Load again and decide again.
var ErrConflict = errors.New("the aggregate has changed since it was loaded")

// Receipt is the stored answer to a command that was sent with an idempotency key.
type Receipt struct {
	CommandID   string
	Fingerprint string // hash of the request; another request with the same key is an error of the caller
	Result      Result
	ExpiresAt   time.Time
}

// HandledError: the command was handled before, with this receipt.
type HandledError struct{ Receipt Receipt }

func (e *HandledError) Error() string {
	return "command " + e.Receipt.CommandID + " was handled before"
}
