package es_test

import (
	"path/filepath"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/sqlstore"
)

// lockable is the state of the next release of shelves, which can be locked. Events of both releases have one type.
type lockable struct {
	Pieces int
	Locked bool `json:",omitempty"`
}

type locked struct{ Locked bool }

// A program must decide on no state that lacks what a newer release has stored: neither from the events nor from a
// snapshot, which has all that an unknown event did. What it knows whole it may use.
func TestAFormerReleaseDecidesOnWhatItKnows(t *testing.T) {
	store, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "shelves.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(t.Context()) })
	next := es.Aggregate[lockable, any, any]{
		Decide: func(_ lockable, command any) ([]any, error) { return []any{command}, nil },
		Apply: func(s lockable, e any) lockable {
			switch e := e.(type) {
			case Moved:
				s.Pieces += e.Pieces
			case locked:
				s.Locked = e.Locked
			}
			return s
		},
		Events: es.NewCodec("shelf", nil, es.Plain[any, Moved]("PiecesMoved"), es.Plain[any, locked]("ShelfLocked")),
	}
	newer := es.NewService(next, store, es.Settings{})
	send := func(command any) {
		t.Helper()
		if _, err := newer.Handle(t.Context(), es.Request[any]{ID: bolts.ID, Command: command}); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func() {
		t.Helper()
		if _, err := newer.Snapshot(t.Context(), es.Caller{}, bolts.ID); err != nil {
			t.Fatal(err)
		}
	}
	// move has the former release, started anew, decide a command.
	move := func() (uint64, error) {
		former := es.NewService(shelves, store, es.Settings{})
		defer func() { _ = former.Close(t.Context()) }()
		result, err := former.Handle(t.Context(), es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{1}})
		return result.Version, err
	}
	send(Moved{5})
	snapshot()
	if version, err := move(); err != nil || version != 2 {
		t.Errorf("without anything new: version %d, %v", version, err)
	}
	send(locked{true})
	if _, err := move(); err == nil || es.KindOf(err) != es.Internal {
		t.Errorf("with an event that it does not know: %v", err)
	}
	snapshot()
	if _, err := move(); err == nil || es.KindOf(err) != es.Internal {
		t.Errorf("with a snapshot that it does not know whole: %v", err)
	}
	send(locked{false})
	snapshot()
	if version, err := move(); err != nil || version != 5 {
		t.Errorf("with a snapshot that it knows whole: version %d, %v", version, err)
	}
	if err := newer.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
