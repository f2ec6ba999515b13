package es

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Kind classifies an error by what the caller can do about it. Adapters map kinds to responses.
type Kind int

// The kinds. An error without a known kind is [Internal].
const (
	Internal        Kind = iota // a server fault: log it, hide the details from the caller
	Invalid                     // the request is malformed: correct it
	NotFound                    // it does not exist, or this caller may not see it
	Forbidden                   // the caller may not do this
	Conflict                    // it contradicts the current state
	VersionMismatch             // the aggregate is not at the version that the caller expected
	KeyReused                   // the idempotency key belongs to a different request
	Unavailable                 // a store did not answer in time: the outcome is unknown, retry with the same key
	Behind                      // the read model has not reached the requested version: ask again
	Canceled                    // the caller has disconnected
	Inconsistent                // stored data contradicts itself: an operator must repair it
)

// kindNames are the kinds' names in metrics and traces.
var kindNames = [...]string{
	"internal", "invalid", "not_found", "forbidden", "conflict", "version_mismatch", "key_reused", "unavailable", "behind", "canceled", "inconsistent",
}

// String returns the kind's name in metrics and traces.
func (k Kind) String() string { return kindNames[k] }

// Errors of the use cases, beside those of a domain. Compare with [errors.Is].
var (
	// ErrConcurrentUpdate: other writers kept changing the aggregate until its time was over.
	ErrConcurrentUpdate error = &failure{Conflict, "other writers kept changing it while the command was decided; send it again"}
	// ErrKeyReused: an idempotency key was sent with a different request than the first time.
	ErrKeyReused error = &failure{KeyReused, "the idempotency key was used for another request; take a new key for a new request"}
	// ErrUnavailable: a store did not answer in time, so the outcome is unknown.
	ErrUnavailable error = &failure{Unavailable, "the store did not answer in time; the outcome is unknown, repeat with the same idempotency key"}
	// ErrBehind: the read model did not reach the requested version in time.
	ErrBehind error = &failure{Behind, "the read model has not reached the version of the consistency token yet; ask again"}
)

// failure is an error with a kind.
type failure struct {
	kind Kind
	text string
}

func (f *failure) Error() string { return f.text }

// Class returns the error's class for KindOf.
func (f *failure) Class() string { return f.kind.String() }

// Errors of a store that an operator must mend. Both are an [ErrUnavailable], too. Compare with [errors.Is].
var (
	// ErrFull: the store's disk is full.
	ErrFull error = &unusable{failure{Unavailable, "the disk of the event store is full; an operator must free space, then repeat with the same idempotency key"}}
	// ErrDamaged: what is stored can't be read.
	ErrDamaged error = &unusable{failure{Unavailable, "the event store is damaged; an operator must restore it from a backup and start the programs again"}}
)

type unusable struct{ failure }

// Reason may be told to anybody.
func (u *unusable) Reason() string { return u.text }

// Is makes it match [ErrUnavailable].
func (*unusable) Is(target error) bool { return target == ErrUnavailable }

// VersionMismatchError: the aggregate is at version Current, but the caller expected version Expected.
type VersionMismatchError struct{ Expected, Current uint64 }

func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("it is at version %d, not %d; read it again and decide again", e.Current, e.Expected)
}

// Class returns the error's class for KindOf.
func (*VersionMismatchError) Class() string { return VersionMismatch.String() }

// InvalidError: a value in a request, such as the tenant, is malformed.
type InvalidError struct {
	Field  string
	Reason string // what is expected; read after the field's name
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Invalid returns the field and what is expected of it.
func (e *InvalidError) Invalid() (field, reason string) { return e.Field, e.Reason }

// PublicReason returns what may be told to anybody of why a store can't be used; "": nothing more than its kind.
func PublicReason(err error) string {
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		return told.Reason()
	}
	return ""
}

// KindOf returns the kind of err, also when it is wrapped. Errors report it themselves by a method Class, which returns
// the kind's name. Others, and nil, are [Internal], [Canceled] or, after a deadline, [Unavailable].
func KindOf(err error) Kind {
	var invalid interface{ Invalid() (field, reason string) }
	var classified interface{ Class() string }
	switch {
	case errors.As(err, &invalid):
		return Invalid
	case errors.As(err, &classified):
		return Kind(max(0, slices.Index(kindNames[:], classified.Class())))
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Unavailable
	}
	return Internal
}

// ErrOutdated means that a snapshot is intact, but in a form that is no longer used, or with a field that is unknown.
var ErrOutdated = errors.New("the snapshot is of another release")

// ErrConflict, of an event store: the aggregate is not at the expected version. [Service.Handle] decides again.
var ErrConflict = errors.New("the aggregate is not at the expected version")

// InconsistentError: an aggregate's head and journal contradict each other. It takes no events until it is repaired.
type InconsistentError struct {
	ID    AggregateID
	Head  uint64 // version of the head; 0: there is no head
	Event uint64 // number of an event that the journal has beyond the head, or lacks below it
	Cause error  // if set: why the head can't be read
}

func (e *InconsistentError) Error() string {
	switch {
	case e.Cause != nil:
		return fmt.Sprintf("the head of %s can't be read: %v", e.ID, e.Cause)
	case e.Event > e.Head:
		return fmt.Sprintf("the head of %s says version %d, but the journal has event %d", e.ID, e.Head, e.Event)
	}
	return fmt.Sprintf("the head of %s says version %d, but the journal lacks event %d", e.ID, e.Head, e.Event)
}

// Class returns the error's class for KindOf.
func (*InconsistentError) Class() string { return "inconsistent" }

// HandledError: a command was handled before; Receipt holds the answer, or the command's id alone if it was lost.
type HandledError struct{ Receipt Receipt }

func (e *HandledError) Error() string {
	return fmt.Sprintf("command %s was handled before", e.Receipt.CommandID)
}

// Reject returns an error with which a decider rejects a command. code tells programs what is wrong, reason people.
func Reject(kind Kind, code, reason string) error { return &rejection{failure{kind, reason}, code} }

type rejection struct {
	failure
	code string
}

// Code returns what is wrong.
func (r *rejection) Code() string { return r.code }
