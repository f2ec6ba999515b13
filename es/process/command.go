package process

import (
	"context"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Command is one command for one aggregate, caused by an event.
type Command struct {
	Target        es.AggregateID // the aggregate that the command is for
	Name          string         // which command it is: [Send] knows
	EventID       string         // of the event that the process reacts to
	Executor      string         // who sends it: the ULID of a user account
	CausationID   string         // of the event that causes the command, or an earlier one
	CorrelationID string         // of the event that causes the command
}

// caller returns the sender and the causation of the command.
func (c Command) caller(process string) es.Caller {
	return es.Caller{
		Tenant: c.Target.Tenant, Executor: c.Executor, CorrelationID: c.CorrelationID, CausationID: c.CausationID, Source: "process/" + process,
	}
}

// idempotencyKey is the same for every attempt to send the command.
func (c Command) idempotencyKey(process string) string {
	return "process/" + process + "/" + c.EventID + "/" + c.Target.String()
}

// Send sends a command and returns when it is decided. A rejection because there is nothing left to do counts as a
// success. After an error the command is sent again later, with the same caller and key.
type Send func(ctx context.Context, caller es.Caller, idempotencyKey string, command Command) error

// Outbox keeps the commands of one process until they are decided. All methods may be called concurrently, from any
// number of processes. Errors are those of [projection.Store].
type Outbox interface {
	// Add stores commands in the transaction, due at once. There is at most one per aggregate and event.
	Add(ctx context.Context, tx projection.Tx, commands []Command) error
	// Due lists the commands that are due, oldest first.
	Due(ctx context.Context, now time.Time, limit int) ([]Pending, error)
	// Done deletes commands. A missing command is no error.
	Done(ctx context.Context, commands []Command) error
	// Postpone stores a failed attempt. It does nothing if the command was deleted.
	Postpone(ctx context.Context, pending Pending) error
	// Count returns how many commands are waiting, and how many of them have failed at least once.
	Count(ctx context.Context) (waiting, failing int, err error)
}

// Pending is a command in the outbox.
type Pending struct {
	Command
	Attempts     int       // failed attempts
	Reason       string    // of the last failure; empty without one
	DueAt        time.Time // when it is sent next
	FailingSince time.Time // the first failure; undefined without one
}
