package es

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

var (
	tenantCode = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	typeName   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
)

// Tenant is the code of the owner of aggregates. The tenant of callers that name none has the empty code.
type Tenant string

// ParseTenant checks a tenant's code that comes from outside: empty, or 1 to 32 characters of a-z, 0-9 and -.
func ParseTenant(code string) (Tenant, error) {
	if code != "" && !tenantCode.MatchString(code) {
		return "", &InvalidError{Field: "tenant", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Tenant(code), nil
}

// String returns the code.
func (t Tenant) String() string { return string(t) }

// AggregateID identifies an aggregate by tenant, type (such as "order") and the text of its ULID.
type AggregateID struct {
	Tenant   Tenant
	Type, ID string
}

// String returns the id without its tenant, as event stores write it.
func (id AggregateID) String() string { return id.Type + "-" + id.ID }

// ParseAggregateID parses the text of [AggregateID.String].
func ParseAggregateID(tenant Tenant, text string) (AggregateID, error) {
	dash := strings.LastIndexByte(text, '-')
	if dash <= 0 || dash == len(text)-1 {
		return AggregateID{}, fmt.Errorf("%q is no id of an aggregate; expected its type and ULID, such as <type>-01H42K4ABWQ5V2XQEP3A48VE0Z", text)
	}
	return AggregateID{Tenant: tenant, Type: text[:dash], ID: text[dash+1:]}, nil
}

// Check returns an [InvalidError] unless the id has the form that programs use: a tenant's code, a type of up to 64 of
// a-z, 0-9, _ and - that begins with a letter, and a ULID in upper case.
func (id AggregateID) Check() error {
	if _, err := ParseTenant(id.Tenant.String()); err != nil {
		return err
	}
	if !typeName.MatchString(id.Type) {
		return &InvalidError{Field: "type", Reason: fmt.Sprintf("must be up to 64 of a-z, 0-9, _ and -, and begin with a letter; %q is not", id.Type)}
	}
	if value, err := ulid.ParseStrict(id.ID); err != nil || value.IsZero() || value.String() != id.ID {
		return &InvalidError{Field: "id", Reason: fmt.Sprintf("must be a ULID, such as 01H42K4ABWQ5V2XQEP3A48VE0Z; %q is not", id.ID)}
	}
	return nil
}

// Caller identifies who sends a request and what it belongs to. It is stored with every event that results.
type Caller struct {
	Tenant        Tenant
	Executor      string // ULID of the acting user account
	RequestID     string // id of this request
	CorrelationID string // id of the conversation that the request belongs to; at most 128 visible ASCII characters
	CausationID   string // id of the message that caused the request; empty for a request from a person
	Source        string // program and operation that took the request, such as "shop-api /orders/place"
	ClientIP      string
}

const maxCorrelation = 128 // characters, as many as the outbox of a process manager holds

func (c Caller) check() error {
	if len(c.CorrelationID) > maxCorrelation || strings.ContainsFunc(c.CorrelationID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &InvalidError{Field: "correlation_id", Reason: fmt.Sprintf("must be at most %d visible ASCII characters", maxCorrelation)}
	}
	return nil
}

// Envelope is the metadata of an event. In its JSON they are id, aggregate_id, seq_nr, executor_id, occurred_at,
// tenant_code, command_id, correlation_id, causation_id, source, client_ip, request_id and traceparent, beside the type
// and what the event says.
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

// Described is an event for people.
type Described struct {
	Envelope
	Type string // its name
	Data []byte // JSON of its own fields, as they are written today; if it cannot be decoded, all that is stored
}

// Recorded is an event with its envelope, as stored in the journal.
type Recorded[E any] struct {
	Envelope
	Event E
}
