package publishing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Event is an event in its published form.
type Event = es.Described

// Publish publishes an event. It returns nil once the broker has stored it. A [projection.ErrRefused], as of [Refused],
// means that the event would always be refused. Every other error is an outage: the event may be stored or not, and is
// published again; a *[BusyError] says when.
//
// It may be called concurrently, but not for two events of one aggregate, which therefore never overtake each other.
// ctx ends when the broker has not answered within 10 s. Errors are logged and stored. Their text has no words of the
// broker, because those may be the words of the event.
type Publish = func(ctx context.Context, event Event) error

// Message is an event as a broker gets it.
type Message struct {
	ID   string // of the event
	Key  string // of its aggregate
	Body []byte // of type [ContentType]
}

// Refused returns an error that means that a broker refuses an event. It parks only the event's aggregate.
func Refused(cause error) error {
	return answer{fmt.Errorf("the broker refuses the event: %w", cause), projection.ErrRefused}
}

// outage returns an error that makes the projection retry the events.
func outage(cause error) error {
	return answer{fmt.Errorf("the broker did not accept an event; it is published again: %w", cause), projection.ErrTransient}
}

// answer is an error of a kind that the projection knows.
type answer struct {
	error
	kind error
}

func (a answer) Unwrap() []error { return []error{a.error, a.kind} }

// BusyError is an outage with the time of the next attempt, given by the broker.
type BusyError struct {
	Cause error
	After time.Duration
}

func (e *BusyError) Error() string { return e.Cause.Error() }

// Cause describes why a broker has not accepted an event, in words of our own. The text of a library's error may quote
// what the broker answered, and so the texts in the event, or secrets of the URL.
func Cause(err error) string {
	var system syscall.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &system):
		return "the connection failed: " + system.Error() // the operating system's words
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("no valid answer (%T)", err)
}
