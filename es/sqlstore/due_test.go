package sqlstore_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/notebook"
)

func TestSnapshotsDue(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		due := func(events uint64) map[es.AggregateID]es.Head {
			t.Helper()
			found := map[es.AggregateID]es.Head{}
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
		if err := gateway.SaveSnapshot(t.Context(), saved, es.Snapshot{Version: 25, Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if got := due(11); len(got) != 1 || got[long].Version != 11 {
			t.Errorf("after 11 events: %v", got)
		}
		if got := due(5); len(got) != 3 || got[saved] != (es.Head{Version: 30, SnapshotVersion: 25}) {
			t.Errorf("after 5 events: %v", got)
		}
	})
}

func TestSnapshotsThatAreDueAreWritten(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		notebooks := func(every uint64) *notebook.Repository {
			notebooks := es.NewRepository(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: every, Logger: slog.New(slog.DiscardHandler)})
			t.Cleanup(func() { _ = notebooks.Close(t.Context()) })
			return notebooks
		}
		commands := es.NewService(notebook.Aggregate(), gateway, es.Settings{SnapshotEvery: 1000})
		t.Cleanup(func() { _ = commands.Close(t.Context()) })
		var keys []es.AggregateID
		for notes := range 12 {
			keys = append(keys, filled(t, commands, notes))
		}
		// A notebook that can't be loaded stays due and must not stop the others.
		broken := es.AggregateID{Type: notebook.Type, ID: keys[11].ID}
		mustAppend(t, gateway, write(broken, 12, 1))
		keys = keys[:11]
		for round, want := range []int{4, 0} {
			if written, err := notebooks(8).WriteSnapshotsDue(t.Context()); err != nil || written != want {
				t.Errorf("round %d: %d written, %v", round, written, err)
			}
		}
		for notes, key := range keys {
			head, err := gateway.Head(t.Context(), es.AggregateID{Type: notebook.Type, ID: key.ID})
			if due := notes >= 7; err != nil || due != (head.SnapshotVersion == uint64(notes+1)) {
				t.Errorf("a notebook of %d notes: %+v, %v", notes, head, err)
			}
		}
	})
}

// filled opens a notebook with this number of notes.
func filled(t *testing.T, commands *notebook.Service, notes int) es.AggregateID {
	t.Helper()
	caller := es.Caller{Executor: notebook.NewID()}
	opened, err := commands.Handle(t.Context(), notebook.Request(caller, "", notebook.Open{By: caller.Executor, Title: "title"}))
	for i := range notes {
		if err == nil {
			_, err = commands.Handle(t.Context(), notebook.Request(caller, opened.Key.ID, notebook.Write{By: caller.Executor, Text: fmt.Sprint("note ", i)}))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return opened.Key
}
