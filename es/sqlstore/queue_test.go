package sqlstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/sqlstore"
)

// follower follows a queue and records the events it has seen.
type follower struct {
	queue    *sqlstore.Queue
	position uint64
	seen     []es.Queued
}

// read reads the available events once.
func (f *follower) read(t *testing.T, limit int) {
	t.Helper()
	found, err := f.queue.Read(t.Context(), f.position, "", limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range found {
		if q.Position <= f.position {
			t.Fatalf("event %d comes after %d", q.Position, f.position)
		}
		f.position = q.Position
		f.seen = append(f.seen, q)
	}
}

// until reads until this number of events was seen.
func (f *follower) until(t *testing.T, count int) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, func() error {
		f.read(t, 100)
		if len(f.seen) < count {
			return fmt.Errorf("%d of %d events seen", len(f.seen), count)
		}
		return nil
	})
}

func TestQueueHasEveryEventInOrder(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		ones := newID()
		ones.Tenant = "one"
		first := mustAppend(t, gateway, write(ones, 0, 3))
		second := mustAppend(t, gateway, write(newID(), 0, 2))
		third := mustAppend(t, gateway, write(ones, 3, 1))
		f := follower{queue: newQueue(t, db)}
		for range 6 {
			f.read(t, 2) // page by page
		}
		want := slices.Concat(first.Entries, second.Entries, third.Entries)
		if len(f.seen) != len(want) {
			t.Fatalf("%d events, want %d", len(f.seen), len(want))
		}
		for i, got := range f.seen {
			id := ones
			if i == 3 || i == 4 {
				id = second.ID
			}
			if got.ID != id || got.SeqNr != want[i].SeqNr || string(got.Payload) != string(want[i].Payload) {
				t.Errorf("event %d is %d of %+v: %s", i, got.SeqNr, got.ID, got.Payload)
			}
		}
		if end, err := f.queue.End(t.Context()); err != nil || end != f.position {
			t.Errorf("the end is at %d, not %d: %v", end, f.position, err)
		}
	})
}

func TestBacklog(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway, queue := newGateway(t, db), newQueue(t, db)
		want := func(after uint64, records int, oldest time.Time) {
			t.Helper()
			got, since, err := queue.Backlog(t.Context(), after)
			if err != nil || got != records || !since.Equal(oldest) {
				t.Errorf("after %d: %d since %s, %v; want %d since %s", after, got, since, err, records, oldest)
			}
		}
		want(0, 0, time.Time{})
		w := write(newID(), 0, 4)
		for i := range w.Entries {
			w.Entries[i].OccurredAt = time.UnixMicro(int64(1000 + i)).UTC()
		}
		mustAppend(t, gateway, w)
		want(0, 4, w.Entries[0].OccurredAt)
		want(3, 1, w.Entries[3].OccurredAt)
		want(4, 0, time.Time{})
	})
}

func TestStoresTellThemselvesApart(t *testing.T) {
	seen := map[string]bool{}
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		id, err := newQueue(t, db).StoreID(t.Context())
		if err != nil || id == "" || seen[id] {
			t.Errorf("the id is %q, %v", id, err)
		}
		seen[id] = true
	})
}
