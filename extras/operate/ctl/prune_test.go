// extra:chat

package ctl

import (
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/tests/readmodeltest"
)

func TestRowsOfDeletedThingsArePruned(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, alice, bob := db.World(t, "acme"), readmodeltest.NewUser(), readmodeltest.NewUser()
		left, gone := w.Thread("left", alice), w.Thread("gone", alice)
		for _, chat := range []thread.ID{left, gone} {
			w.Add(chat, bob)
			w.Post(chat, alice, "stays with its thread")
		}
		w.Unpost(left, w.Post(left, alice, "unposted"))
		w.Remove(left, bob)
		count := func() (rows prunedRows) {
			t.Helper()
			for table, n := range map[string]*int{"threads": &rows.Threads, "members": &rows.Members, "messages": &rows.Messages} {
				if err := db.DB.GetContext(t.Context(), n, "SELECT COUNT(*) FROM "+table); err != nil {
					t.Fatal(err)
				}
			}
			return rows
		}
		prune := func(before time.Time, dryRun bool, want, remain prunedRows) {
			t.Helper()
			if got, err := pruneRows(t.Context(), db.DB, before, dryRun); err != nil || got != want || count() != remain {
				t.Fatalf("%+v, %v; %+v are left, want %+v and %+v", got, err, count(), want, remain)
			}
		}
		later := w.Now().Add(time.Hour)
		prune(time.UnixMicro(1), false, prunedRows{}, prunedRows{2, 4, 3})
		prune(later, true, prunedRows{0, 1, 1}, prunedRows{2, 4, 3})
		prune(later, false, prunedRows{0, 1, 1}, prunedRows{2, 3, 2})
		w.Delete(gone)
		prune(w.Now().Add(time.Hour), false, prunedRows{1, 2, 1}, prunedRows{1, 1, 1})
	})
}
