package es

import "time"

// Caller identifies who sends a request and the trace it belongs to. Adapters create it; it is stored with every event
// that results from the request.
type Caller struct {
	Tenant        Tenant
	Executor      string // ULID of the acting user account
	RequestID     string // id of this request
	CorrelationID string // id of the conversation that the request belongs to
	CausationID   string // id of the message that caused the request; empty for a request from a person
	Source        string // program and operation that took the request, such as "shop-api /orders/place"
	ClientIP      string
}

// Envelope is the metadata of an event.
type Envelope struct {
	EventID       string // a ULID
	AggregateType string
	AggregateID   string    // a ULID
	SeqNr         uint64    // 1, 2, 3 ... per aggregate, without gaps; the aggregate's version after the event
	OccurredAt    time.Time // UTC, to the microsecond
	CommandID     string    // id of the command that produced the event; the same for every retry of the command
	Traceparent   string    // of the command, in the form of W3C Trace Context; empty if it was not part of a trace
	Caller
}

// Aggregate returns the id of the aggregate that the event belongs to.
func (e Envelope) Aggregate() AggregateID {
	return AggregateID{Tenant: e.Tenant, Type: e.AggregateType, ID: e.AggregateID}
}

// Described is an event for people: its name and its own fields, in the form that they are written in today. Of one
// that cannot be decoded, Data is all that is stored, and the envelope what is known without it.
type Described struct {
	Envelope
	Type string
	Data []byte // JSON
}

// Recorded is an event with its envelope, as stored in the journal.
type Recorded[E any] struct {
	Envelope
	Event E
}
