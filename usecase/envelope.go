package usecase

import "time"

// Caller is who asks, and in the course of what. It travels as one value from the adapters inwards and ends up on
// every event that follows.
type Caller struct {
	Tenant        Tenant
	Executor      string // the ULID of the user account that acts
	RequestID     string // of this request
	CorrelationID string // of the conversation that the request belongs to
	CausationID   string // of the message that made the caller ask; empty where a person did
	Source        string // the program and operation that took the request, such as "write-api /orders/place"
	ClientIP      string
}

// Envelope is what is recorded about an event beside what it says.
type Envelope struct {
	EventID       string // a ULID
	AggregateType string
	AggregateID   string    // a ULID
	SeqNr         uint64    // 1, 2, 3 ... per aggregate, without a gap; the aggregate's version after the event
	OccurredAt    time.Time // UTC, to the microsecond
	CommandID     string    // of the command that the event follows from; one command, one id, however often it is sent
	Caller
}

// Key names the aggregate that the event belongs to.
func (e Envelope) Key() Key { return Key{Tenant: e.Tenant, Type: e.AggregateType, ID: e.AggregateID} }

// Recorded is an event in its envelope, as it stands in the journal.
type Recorded[E any] struct {
	Envelope
	Event E
}
