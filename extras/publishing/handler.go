package publishing

import (
	"context"

	"example.com/threads/es/projection"
)

// Handler returns the handler of an aggregate type.
func (p *Publisher) Handler(of Type) projection.Handler { return handler{p, of} }

type handler struct {
	publisher *Publisher
	of        Type
}

// Type implements [projection.Handler].
func (h handler) Type() string { return h.of.Name }

// Decode implements [projection.Handler].
func (h handler) Decode(payload []byte) (projection.Event, error) {
	event, err := h.of.Decode(payload)
	return projection.Event{Envelope: event.Envelope, Event: event}, err
}

// Load implements [projection.Handler]. An event needs no rows.
func (h handler) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &fold{publisher: h.publisher, work: tx.(*transaction)}, nil // Change created it
}

// fold collects the events of a change.
type fold struct {
	publisher *Publisher
	work      *transaction
	events    []Event
}

// Apply implements [projection.Fold].
func (f *fold) Apply(event projection.Event) error {
	f.events = append(f.events, event.Event.(Event)) // Decode created it
	return nil
}

// Save implements [projection.Fold].
func (f *fold) Save(ctx context.Context) error { return f.publisher.publish(ctx, f.work, f.events) }
