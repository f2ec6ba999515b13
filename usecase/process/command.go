package process

import (
	"context"
	"time"

	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Command is what an event leads to: one command for one aggregate.
type Command struct {
	Target        usecase.Key // the aggregate that the command is for
	Name          string      // which command it is: [Send] knows
	EventID       string      // of the event that the process reacts to
	Executor      string      // in whose name it is sent: the ULID of a user account
	CausationID   string      // of the event that the command follows from: that one, or one before it
	CorrelationID string      // of the event that the command follows from
}

// caller is who sends the command of a process, and in the course of what.
func (c Command) caller(process string) usecase.Caller {
	return usecase.Caller{
		Tenant: c.Target.Tenant, Executor: c.Executor, CorrelationID: c.CorrelationID, CausationID: c.CausationID, Source: "process/" + process,
	}
}

// idempotencyKey is the same whenever the command is sent.
func (c Command) idempotencyKey(process string) string {
	return "process/" + process + "/" + c.EventID + "/" + c.Target.String()
}

// Send has a command decided and returns when that is so. A rejection that says that the command has nothing left to do
// is a success. With an error the command is sent again later, with the same caller and key.
type Send func(ctx context.Context, caller usecase.Caller, idempotencyKey string, command Command) error

// Outbox keeps the commands of one process until they are decided. All methods may be called concurrently, from any
// number of processes. Errors are those of [projection.Store].
type Outbox interface {
	// Add takes commands in, due at once, in the transaction. For an aggregate and an event there is one at most.
	Add(ctx context.Context, tx projection.Tx, commands []Command) error
	// Due lists commands whose time has come, those that wait longest first.
	Due(ctx context.Context, now time.Time, limit int) ([]Pending, error)
	// Done takes commands away. One that is not there is no error.
	Done(ctx context.Context, commands []Command) error
	// Postpone stores that a command could not be decided; nothing where it has been taken away.
	Postpone(ctx context.Context, pending Pending) error
	// Count tells how many commands wait, and how many of them have been sent in vain.
	Count(ctx context.Context) (waiting, failing int, err error)
}

// Pending is a command in the outbox.
type Pending struct {
	Command
	Attempts     int       // in vain
	Reason       string    // of the last failure; empty without one
	DueAt        time.Time // when it is sent next
	FailingSince time.Time // the first failure; without one it means nothing
}
