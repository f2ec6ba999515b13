package chat

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// windows is a store that records the windows of a shadow.
type windows struct {
	RowStore
	all  Rows
	most int // in one window
}

func (w *windows) Compare(_ context.Context, _ projection.Tx, _ es.AggregateID, window Window, want Rows, _ func(projection.Difference)) error {
	for _, row := range want.Messages {
		if !window.has(row.SeqNr) {
			panic("a row outside the window")
		}
	}
	w.most = max(w.most, len(want.Members)+len(want.Messages))
	if window.After == 0 {
		maps.Copy(w.all.Threads, want.Threads)
	}
	maps.Copy(w.all.Members, want.Members)
	maps.Copy(w.all.Messages, want.Messages)
	return nil
}

// A thread of any size is verified in windows. Together they must be all of its rows, and none may exceed its limit.
func TestWindowsAreAllRows(t *testing.T) {
	key := keyOf(t)
	var events []projection.Event
	add := func(event any) {
		made := next(key, event)
		made.SeqNr = uint64(len(events)) + 1
		events = append(events, made)
	}
	add(thread.Created{Name: name(t, "tea"), Members: []thread.Member{{ID: aliceM, User: alice, Role: thread.RoleAdmin}}})
	add(thread.MemberAdded{Member: thread.Member{ID: bobM, User: bob, Role: thread.RoleMember}})
	messages := make([]thread.Message, 60)
	for i := range messages {
		messages[i] = thread.Message{ID: id[thread.Message](byte(100 + i)), Sender: bob, Text: text(t, "said")}
		add(thread.MessagePosted{Message: messages[i]})
		if i%3 == 2 { // an old message, usually in another window
			edited := messages[i/3]
			edited.Text = text(t, "edited")
			add(thread.MessageEdited{Message: edited})
		}
	}
	add(thread.MessageDeleted{Message: messages[59].ID})
	add(thread.MemberRemoved{Member: bobM, User: bob})
	add(thread.Renamed{Name: name(t, "coffee")})

	want := NewRows()
	for _, event := range events {
		change, err := Fold(want, event)
		if err != nil {
			t.Fatal(err)
		}
		want.Put(change)
	}
	const rowsInAWindow = 7
	store := &windows{all: NewRows()}
	count := 0
	for after, more := uint64(0), true; more; count++ {
		s := &shadow{store: store, key: key, window: Window{After: after}, rows: NewRows(), room: rowsInAWindow * (rowBytes + len("said"))}
		for _, event := range events {
			if err := s.Apply(event); err != nil {
				t.Fatalf("window after %d, event %d: %v", after, event.SeqNr, err)
			}
		}
		if err := s.Compare(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		after, more = s.Rest()
	}
	if !reflect.DeepEqual(store.all, want) {
		t.Errorf("the windows are\n%+v and should be\n%+v", store.all, want)
	}
	if store.most > rowsInAWindow || count < 62/rowsInAWindow {
		t.Errorf("%d windows of up to %d rows", count, store.most)
	}
}

func TestAShadowTellsOfEventsThatContradictEachOther(t *testing.T) {
	key := keyOf(t)
	s := NewThreadRows(nil, nil).Shadow(key, 0)
	created := next(key, thread.Created{Name: name(t, "tea"), Members: []thread.Member{{ID: aliceM, User: alice, Role: thread.RoleAdmin}}})
	if err := s.Apply(created); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(next(key, thread.MessageDeleted{Message: ident.New[thread.Message](begun, [10]byte{99})})); err == nil {
		t.Error("the shadow accepts the deletion of an unknown message")
	}
}
