package usecase

import (
	"time"

	"example.com/threads/domain/thread"
)

// Caller is who asks, and in the course of what. It travels as one value from the adapters inwards and ends up on
// every event that follows.
type Caller struct {
	Tenant        Tenant
	Executor      thread.UserID
	RequestID     string // of this request
	CorrelationID string // of the conversation that the request belongs to
	CausationID   string // of the message that made the caller ask; empty where a person did
	Source        string // the program and operation that took the request, such as "write-api /threads/create"
	ClientIP      string
}

// Envelope is what is recorded about an event beside what it says.
type Envelope struct {
	EventID    thread.EventID
	Thread     thread.ID
	SeqNr      uint64    // 1, 2, 3 ... per thread, without a gap; the thread's version after the event
	OccurredAt time.Time // UTC, to the microsecond
	CommandID  string    // of the command that the event follows from; one command, one id, however often it is sent
	Caller
}

// Key names the thread that the event belongs to.
func (e Envelope) Key() ThreadKey { return ThreadKey{Tenant: e.Tenant, Thread: e.Thread} }

// Recorded is an event in its envelope, as it stands in the journal.
type Recorded struct {
	Envelope
	Event thread.Event
}
