package es

import (
	"context"
	"errors"
	"fmt"
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
	// ErrConcurrentUpdate: other writers kept changing the aggregate until the retries were used up.
	ErrConcurrentUpdate = errors.New("other writers kept changing it while the command was decided; send it again")
	// ErrKeyReused: an idempotency key was sent with a different request than the first time.
	ErrKeyReused = errors.New("the idempotency key was used for another request; take a new key for a new request")
	// ErrUnavailable: a store did not answer in time, so the outcome is unknown.
	ErrUnavailable = errors.New("the store did not answer in time; the outcome is unknown, repeat with the same idempotency key")
	// ErrBehind: the read model did not reach the requested version in time.
	ErrBehind = errors.New("the read model has not reached the version of the consistency token yet; ask again")
)

// Errors of a store that an operator must mend. Compare with [errors.Is].
var (
	// ErrFull: the store's disk is full. It is an [ErrUnavailable], too.
	ErrFull error = full{}
	// ErrDamaged: what is stored can't be read. Its kind is [Unavailable].
	ErrDamaged error = damaged{}
)

type full struct{}

func (f full) Error() string { return f.Reason() }

// Reason may be told to anybody.
func (full) Reason() string {
	return "the disk of the event store is full; an operator must free space, then repeat with the same idempotency key"
}

// Is makes ErrFull match [ErrUnavailable].
func (full) Is(target error) bool { return target == ErrUnavailable }

type damaged struct{}

func (d damaged) Error() string { return d.Reason() }

// Reason may be told to anybody.
func (damaged) Reason() string {
	return "the event store is damaged; an operator must restore it from a backup and start the programs again"
}

// VersionMismatchError: the aggregate is at version Current, but the caller expected version Expected.
type VersionMismatchError struct{ Expected, Current uint64 }

func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("it is at version %d, not %d; read it again and decide again", e.Current, e.Expected)
}

// kinds maps sentinel errors to kinds. The order matters: ErrUnavailable comes before the context errors, so a store
// that gave up at its deadline is unavailable, even if it wraps a context error.
var kinds = []struct {
	err  error
	kind Kind
}{
	{ErrConcurrentUpdate, Conflict},
	{ErrKeyReused, KeyReused},
	{ErrUnavailable, Unavailable},
	{ErrDamaged, Unavailable},
	{ErrBehind, Behind},
	{context.Canceled, Canceled},
	{context.DeadlineExceeded, Unavailable},
}

// classes maps the classes that errors report themselves (Class methods of domain rejections and event store errors) to
// kinds. An unknown class is [Internal].
var classes = map[string]Kind{
	"not_found":   NotFound,
	"forbidden":   Forbidden,
	"conflict":    Conflict,
	"unavailable": Unavailable,

	"inconsistent": Inconsistent,
}

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

// KindOf returns the kind of err, also when it is wrapped.
func KindOf(err error) Kind {
	var invalid interface{ Invalid() (field, reason string) }
	var classified interface{ Class() string }
	var mismatch *VersionMismatchError
	switch {
	case errors.As(err, &invalid):
		return Invalid
	case errors.As(err, &classified):
		return classes[classified.Class()]
	case errors.As(err, &mismatch):
		return VersionMismatch
	}
	for _, known := range kinds {
		if errors.Is(err, known.err) {
			return known.kind
		}
	}
	return Internal
}
