package sqlstore_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/tests/chattest"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
)

func TestSnapshotsDue(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		due := func(events uint64) map[eventstore.AggregateID]eventstore.Head {
			t.Helper()
			found := map[eventstore.AggregateID]eventstore.Head{}
			for head, err := range gateway.SnapshotsDue(t.Context(), "thread", events) {
				if err != nil {
					t.Fatal(err)
				}
				found[head.ID] = head.Head
			}
			return found
		}
		short, long, saved := newID(), newID(), newID()
		long.Tenant = "one"
		mustAppend(t, gateway, write(short, 0, 10))
		mustAppend(t, gateway, write(long, 0, 11))
		mustAppend(t, gateway, write(saved, 0, 30))
		if err := gateway.SaveSnapshot(t.Context(), saved, eventstore.Snapshot{Version: 25, Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if got := due(11); len(got) != 1 || got[long].Version != 11 {
			t.Errorf("after 11 events: %v", got)
		}
		if got := due(5); len(got) != 3 || got[saved] != (eventstore.Head{Version: 30, SnapshotVersion: 25}) {
			t.Errorf("after 5 events: %v", got)
		}
	})
}

func TestSnapshotsThatAreDueAreWritten(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		threads := func(every uint64) *chatstore.ThreadRepository {
			threads := chatstore.NewThreadRepository(gateway, repository.Settings{SnapshotEvery: every, Logger: slog.New(slog.DiscardHandler)})
			t.Cleanup(func() { _ = threads.Close(t.Context()) })
			return threads
		}
		commands := command.NewService(chat.Threads(), threads(1000), command.Settings{})
		var keys []usecase.Key
		for messages := range 12 {
			keys = append(keys, talk(t, commands, messages))
		}
		// A thread that can't be loaded stays due and must not stop the others.
		broken := eventstore.AggregateID{Type: "thread", ULID: keys[11].ID}
		mustAppend(t, gateway, write(broken, 12, 1))
		keys = keys[:11]
		for round, want := range []int{4, 0} {
			if written, err := threads(8).WriteSnapshotsDue(t.Context()); err != nil || written != want {
				t.Errorf("round %d: %d written, %v", round, written, err)
			}
		}
		for messages, key := range keys {
			head, err := gateway.Head(t.Context(), eventstore.AggregateID{Type: "thread", ULID: key.ID})
			if due := messages >= 7; err != nil || due != (head.SnapshotVersion == uint64(messages+1)) {
				t.Errorf("a thread of %d messages: %+v, %v", messages, head, err)
			}
		}
	})
}

// talk creates a thread with this number of messages.
func talk(t *testing.T, commands *chat.ThreadCommands, messages int) usecase.Key {
	t.Helper()
	user, err := ident.Parse[ident.UserAccount](newID().ULID)
	if err != nil {
		t.Fatal(err)
	}
	caller := usecase.Caller{Executor: user.String()}
	created, err := commands.Handle(t.Context(), chattest.Request(caller, thread.ID{}, thread.Create{Executor: user, Name: writing.RecordedName("name")}))
	for i := range messages {
		if err == nil {
			_, err = commands.Handle(t.Context(), chattest.Request(caller, chat.ThreadID(created.Key),
				thread.PostMessage{Executor: user, Text: thread.RecordedText(fmt.Sprint("message ", i))}))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return created.Key
}
