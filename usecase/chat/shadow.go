package chat

import (
	"context"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/usecase/query"
)

// Window is a part of a thread's rows: the members and messages created by events after After and up to UpTo (0: the
// rest). The thread's own row belongs to the first window.
type Window struct{ After, UpTo uint64 }

func (w Window) has(seqNr uint64) bool { return seqNr > w.After && (w.UpTo == 0 || seqNr <= w.UpTo) }

// shadowBytes limits the memory of a shadow, roughly.
const shadowBytes = 32 << 20

// rowBytes is the estimated memory of a row without its text.
const rowBytes = 400

// Shadow implements [projection.Verifiable].
func (r *ThreadRows) Shadow(key es.AggregateID, after uint64) projection.Shadow {
	return &shadow{store: r.store, key: key, window: Window{After: after}, rows: NewRows(), room: shadowBytes}
}

// Clear implements [projection.Verifiable].
func (r *ThreadRows) Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	return r.store.Clear(ctx, tx, key)
}

// shadow holds the expected rows of a window.
type shadow struct {
	store  RowStore
	key    es.AggregateID
	window Window
	rows   Rows
	room   int // remaining bytes; the window ends before the event that exceeds them
}

// Apply implements [projection.Shadow]. Members and messages outside the window are not kept, so their existence is not
// checked.
func (s *shadow) Apply(recorded projection.Event) error {
	event := recorded
	if s.outside(recorded) {
		event.Event = eventElsewhere{}
	}
	changed, err := Fold(s.rows, event)
	if err != nil {
		return err
	}
	changed.Members = slices.DeleteFunc(changed.Members, func(row query.Member) bool {
		_, known := s.rows.Members[RowKey[thread.Member]{row.Tenant, row.ID}]
		return !known && !s.takes(recorded.SeqNr, 0)
	})
	changed.Messages = slices.DeleteFunc(changed.Messages, func(row query.Message) bool {
		_, known := s.rows.Messages[RowKey[thread.Message]{row.Tenant, row.ID}]
		return !known && !s.takes(recorded.SeqNr, len(row.Text))
	})
	s.rows.Put(changed)
	return nil
}

// eventElsewhere replaces an event about a row outside the window: it changes the thread's row as every event does.
type eventElsewhere struct{}

// outside reports whether an event changes a row that may be outside the window.
func (s *shadow) outside(recorded projection.Event) bool {
	if s.window == (Window{}) {
		return false
	}
	needed := neededBy([]projection.Event{recorded})
	for key := range needed.Members {
		if _, known := s.rows.Members[key]; !known {
			return true
		}
	}
	for key := range needed.Messages {
		if _, known := s.rows.Messages[key]; !known {
			return true
		}
	}
	return false
}

// takes reports whether a row created by the event belongs to the window. If there is no room for it, the window ends
// before the event.
func (s *shadow) takes(seqNr uint64, text int) bool {
	if !s.window.has(seqNr) {
		return false
	}
	s.room -= rowBytes + text
	if s.room < 0 && s.window.UpTo == 0 && seqNr > s.window.After+1 {
		s.window.UpTo = seqNr - 1
		return false
	}
	return true
}

// Compare implements [projection.Shadow].
func (s *shadow) Compare(ctx context.Context, tx projection.Tx, tell func(projection.Difference)) error {
	return s.store.Compare(ctx, tx, s.key, s.window, s.rows, tell)
}

// Rest implements [projection.Shadow].
func (s *shadow) Rest() (after uint64, more bool) { return s.window.UpTo, s.window.UpTo > 0 }
