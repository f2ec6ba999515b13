package projection

import (
	"context"
	"fmt"

	"example.com/threads/usecase"
)

// OneRow is the [Handler] of aggregates that have one row each: E are their events, R is the row.
type OneRow[E, R any] struct {
	// AggregateType is the type of the aggregates.
	AggregateType string
	// Read reads an event. With an error, the event's id is what could be made out of it.
	Read func(payload []byte) (usecase.Recorded[E], error)
	// Next is the row after an event, the next one of its aggregate; exists tells whether there was a row before. It is
	// pure. An event that contradicts the row is an error.
	Next func(row R, exists bool, event usecase.Recorded[E]) (R, error)
	// Rows is where the rows are kept.
	Rows RowStore[R]
}

// RowStore keeps the rows of aggregates that have one each. Errors are those of [Store].
type RowStore[R any] interface {
	// LoadRows returns the rows of those of the aggregates that have one.
	LoadRows(ctx context.Context, tx Tx, keys []usecase.Key) (map[usecase.Key]R, error)
	// SaveRows writes rows, whether they were there before or not.
	SaveRows(ctx context.Context, tx Tx, rows map[usecase.Key]R) error
}

// Type implements [Handler].
func (h OneRow[E, R]) Type() string { return h.AggregateType }

// Decode implements [Handler].
func (h OneRow[E, R]) Decode(payload []byte) (Event, error) {
	recorded, err := h.Read(payload)
	return Event{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// Load implements [Handler].
func (h OneRow[E, R]) Load(ctx context.Context, tx Tx, events []Event) (Fold, error) {
	keys := make([]usecase.Key, len(events))
	for i, event := range events {
		keys[i] = event.Key()
	}
	rows, err := h.Rows.LoadRows(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	return &oneRowFold[E, R]{handler: h, tx: tx, rows: rows, changed: make(map[usecase.Key]R)}, nil
}

// oneRowFold is the rows of one transaction.
type oneRowFold[E, R any] struct {
	handler       OneRow[E, R]
	tx            Tx
	rows, changed map[usecase.Key]R
}

// Apply implements [Fold].
func (f *oneRowFold[E, R]) Apply(event Event) error {
	own, is := event.Event.(E)
	if !is {
		return fmt.Errorf("a %T is no event of %s", event.Event, f.handler.AggregateType)
	}
	before, exists := f.rows[event.Key()]
	row, err := f.handler.Next(before, exists, usecase.Recorded[E]{Envelope: event.Envelope, Event: own})
	if err == nil {
		f.rows[event.Key()], f.changed[event.Key()] = row, row
	}
	return err
}

// Save implements [Fold].
func (f *oneRowFold[E, R]) Save(ctx context.Context) error {
	return f.handler.Rows.SaveRows(ctx, f.tx, f.changed)
}
