package projection

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// OneRow is the [Handler] of aggregates that have one row each: E are their events, R is the row.
type OneRow[E, R any] struct {
	// Events decodes the events.
	Events *es.Codec[E]
	// Version must be increased by every change that makes a different row from the same events; see [Versioned]. 0
	// means 1.
	Version int
	// Next returns the row after the next event of its aggregate; exists reports whether there was a row. It is pure.
	// An event that contradicts the row is an error.
	Next func(row R, exists bool, event es.Recorded[E]) (R, error)
	// Rows stores the rows.
	Rows RowStore[R]
}

// RowStore stores the rows of aggregates that have one row each. Errors are those of [Store].
type RowStore[R any] interface {
	// LoadRows returns the existing rows of the aggregates.
	LoadRows(ctx context.Context, tx Tx, keys []es.AggregateID) (map[es.AggregateID]R, error)
	// SaveRows inserts or updates rows.
	SaveRows(ctx context.Context, tx Tx, rows map[es.AggregateID]R) error
	// DeleteRow deletes the row of an aggregate, if there is one.
	DeleteRow(ctx context.Context, tx Tx, key es.AggregateID) error
	// CompareRow returns how the stored row of an aggregate differs from want; nil: there should be no row.
	CompareRow(ctx context.Context, tx Tx, key es.AggregateID, want *R, tell func(Difference)) error
}

// Type implements [Handler].
func (h OneRow[E, R]) Type() string { return h.Events.Type() }

// RowsVersion implements [Versioned].
func (h OneRow[E, R]) RowsVersion() int { return max(h.Version, 1) }

// Decode implements [Handler].
func (h OneRow[E, R]) Decode(payload []byte) (Event, error) {
	recorded, err := h.Events.Decode(payload)
	return Event{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// Load implements [Handler].
func (h OneRow[E, R]) Load(ctx context.Context, tx Tx, events []Event) (Fold, error) {
	keys := make([]es.AggregateID, len(events))
	for i, event := range events {
		keys[i] = event.Aggregate()
	}
	rows, err := h.Rows.LoadRows(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	return &oneRowFold[E, R]{handler: h, tx: tx, rows: rows, changed: make(map[es.AggregateID]R)}, nil
}

// Shadow implements [Verifiable].
func (h OneRow[E, R]) Shadow(key es.AggregateID, _ uint64) Shadow {
	return &oneRowShadow[E, R]{handler: h, key: key}
}

// Clear implements [Verifiable].
func (h OneRow[E, R]) Clear(ctx context.Context, tx Tx, key es.AggregateID) error {
	return h.Rows.DeleteRow(ctx, tx, key)
}

// next is Next for an event of any type.
func (h OneRow[E, R]) next(row R, exists bool, event Event) (R, error) {
	own, is := event.Event.(E)
	if !is {
		return row, fmt.Errorf("a %T is no event of %s", event.Event, h.Type())
	}
	return h.Next(row, exists, es.Recorded[E]{Envelope: event.Envelope, Event: own})
}

// oneRowShadow is what the row of one aggregate should be.
type oneRowShadow[E, R any] struct {
	handler OneRow[E, R]
	key     es.AggregateID
	row     *R // nil: none
}

// Apply implements [Shadow].
func (s *oneRowShadow[E, R]) Apply(event Event) error {
	var before R
	if s.row != nil {
		before = *s.row
	}
	row, err := s.handler.next(before, s.row != nil, event)
	if err == nil {
		s.row = &row
	}
	return err
}

// Compare implements [Shadow].
func (s *oneRowShadow[E, R]) Compare(ctx context.Context, tx Tx, tell func(Difference)) error {
	return s.handler.Rows.CompareRow(ctx, tx, s.key, s.row, tell)
}

// Rest implements [Shadow].
func (s *oneRowShadow[E, R]) Rest() (after uint64, more bool) { return 0, false }

// oneRowFold is the rows of one transaction.
type oneRowFold[E, R any] struct {
	handler       OneRow[E, R]
	tx            Tx
	rows, changed map[es.AggregateID]R
}

// Apply implements [Fold].
func (f *oneRowFold[E, R]) Apply(event Event) error {
	before, exists := f.rows[event.Aggregate()]
	row, err := f.handler.next(before, exists, event)
	if err == nil {
		f.rows[event.Aggregate()], f.changed[event.Aggregate()] = row, row
	}
	return err
}

// Save implements [Fold].
func (f *oneRowFold[E, R]) Save(ctx context.Context) error {
	return f.handler.Rows.SaveRows(ctx, f.tx, f.changed)
}
