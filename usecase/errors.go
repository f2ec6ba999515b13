package usecase

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the class of an error: what the one who asked can do about it. Adapters answer by kind.
type Kind int

// The kinds. An error that nothing else is known about is [Internal].
const (
	Internal        Kind = iota // a fault of ours: log it, tell nothing
	Invalid                     // the request can't be understood: correct it
	NotFound                    // it does not exist, or not for this caller
	Forbidden                   // the caller may not do this
	Conflict                    // it contradicts the state as it is
	VersionMismatch             // the state has moved on from the version that the caller named
	KeyReused                   // the idempotency key belongs to another request
	Unavailable                 // a store did not answer in time: the outcome is unknown, repeat with the same key
	Behind                      // the read model has not reached the version that the caller named: ask again
	Canceled                    // the caller has gone
	Inconsistent                // what the store holds contradicts itself: an operator must mend it
)

// The errors that use cases add to those of a domain. Compare with [errors.Is].
var (
	// ErrConcurrentUpdate says that others kept changing the aggregate until the retries were used up.
	ErrConcurrentUpdate = errors.New("others kept changing it while the command was decided; send it again")
	// ErrKeyReused says that an idempotency key came with another request than the first time.
	ErrKeyReused = errors.New("the idempotency key was used for another request; take a new key for a new request")
	// ErrUnavailable says that a store did not answer in time, so that the outcome is unknown.
	ErrUnavailable = errors.New("the store did not answer in time; the outcome is unknown, repeat with the same idempotency key")
	// ErrBehind says that the read model has not reached a version in time.
	ErrBehind = errors.New("the read model has not reached the version of the consistency token yet; ask again")
)

// VersionMismatchError says that a caller decided on a version that is not the aggregate's any more.
type VersionMismatchError struct{ Expected, Current uint64 }

func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("it is at version %d, not %d; read it again and decide anew", e.Current, e.Expected)
}

// kinds is where each error that can be compared has its kind. What this system found out comes before why a call
// ended: a store that gave up because its time was over is unavailable, whatever it wraps.
var kinds = []struct {
	err  error
	kind Kind
}{
	{ErrConcurrentUpdate, Conflict},
	{ErrKeyReused, KeyReused},
	{ErrUnavailable, Unavailable},
	{ErrBehind, Behind},
	{context.Canceled, Canceled},
	{context.DeadlineExceeded, Unavailable},
}

// classes are the kinds of errors that say their class themselves: the rejections of a domain, and what an event store
// says. A class that is not here is [Internal].
var classes = map[string]Kind{
	"not_found":   NotFound,
	"forbidden":   Forbidden,
	"conflict":    Conflict,
	"unavailable": Unavailable,

	"inconsistent": Inconsistent,
}

// InvalidError says that something that a caller names, such as a tenant, can't be what it stands for.
type InvalidError struct {
	Field  string
	Reason string // what is expected, to be read after the field's name
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Invalid tells the field and what is expected of it.
func (e *InvalidError) Invalid() (field, reason string) { return e.Field, e.Reason }

// KindOf is the kind of err, however deep it is wrapped.
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
