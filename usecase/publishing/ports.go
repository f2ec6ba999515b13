package publishing

import (
	"context"
	"fmt"
	"time"

	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Content is an event as the broker gets it.
type Content struct {
	Type string // the event's name in the journal
	Data []byte // the event, JSON
}

// Event is an event with its envelope.
type Event = usecase.Recorded[Content]

// Broker takes events. Publish may be called concurrently, but not for two events of one aggregate.
type Broker interface {
	// Publish returns nil once the broker has stored the event. A *[RefusedError] says that the broker is there and
	// would refuse this event again. Every other error is an outage: the event may or may not be stored, and is handed
	// over again; a *[BusyError] says when.
	Publish(ctx context.Context, event Event) error
}

// RefusedError says that a broker refuses an event. It parks the event's aggregate, and nothing else.
type RefusedError struct{ Cause error }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the broker refuses the event: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Cause }

// Is makes the projection park the aggregate.
func (*RefusedError) Is(target error) bool { return target == projection.ErrRefused }

// BusyError is an outage whose end the broker has named.
type BusyError struct {
	Cause error
	After time.Duration
}

func (e *BusyError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Cause }

// outage makes the projection hand the events over again.
type outage struct{ cause error }

func (e *outage) Error() string {
	return fmt.Sprintf("the broker did not accept an event; it is published again: %v", e.cause)
}

func (e *outage) Unwrap() error { return e.cause }

func (*outage) Is(target error) bool { return target == projection.ErrTransient }
