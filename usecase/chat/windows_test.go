package chat

import (
	"maps"
	"reflect"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/es/projection"
)

// A thread of any size is verified in windows. Together they must be all of its rows.
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
	of := func(window Window) Rows {
		rows := NewRows()
		rows.Window = window
		for _, event := range events {
			if err := rows.Apply(event); err != nil {
				t.Fatalf("window %+v, event %d: %v", window, event.SeqNr, err)
			}
		}
		return rows
	}

	want, all := of(Window{}), NewRows()
	const size = 7
	for after := uint64(0); after < uint64(len(events)); after += size {
		rows := of(Window{After: after, UpTo: after + size})
		if len(rows.Members)+len(rows.Messages) > size || !reflect.DeepEqual(rows.Threads, want.Threads) {
			t.Errorf("the window after %d has %+v", after, rows)
		}
		maps.Copy(all.Threads, rows.Threads)
		maps.Copy(all.Members, rows.Members)
		maps.Copy(all.Messages, rows.Messages)
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("the windows are\n%+v and should be\n%+v", all, want)
	}
}

// While a window lacks nothing, events that contradict each other are told.
func TestAWindowTellsOfEventsThatContradictEachOther(t *testing.T) {
	key := keyOf(t)
	rows := NewRows()
	rows.Window = Window{UpTo: 8}
	if err := rows.Apply(next(key, thread.Created{Name: name(t, "tea"), Members: []thread.Member{{ID: aliceM, User: alice, Role: thread.RoleAdmin}}})); err != nil {
		t.Fatal(err)
	}
	if err := rows.Apply(next(key, thread.MessageDeleted{Message: stranger})); err == nil {
		t.Error("the rows accept the deletion of an unknown message")
	}
}
