package estest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"example.com/threads/es"
)

const writers = 12

var concurrencyContracts = []contract{
	{"exactly one of several writers wins each version", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		for version := range uint64(6) { // the first version is the creation
			won := race(t, func(int) (es.Entry, error) {
				made := entries(version, 1, 0)
				return made[0], h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: version, Entries: made})
			})
			if len(won) != 1 {
				t.Fatalf("%d writers won version %d", len(won), version+1)
			}
			wantVersion(t, h, id, version+1)
			wantEntries(t, h, id, version, won)
		}
	}},
	{"writers that retry all succeed", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 1, 0)
		won := race(t, func(int) (es.Entry, error) {
			for {
				head, err := h.Gateway.Head(t.Context(), id)
				if err != nil {
					return es.Entry{}, err
				}
				made := entries(head.Version, 1, 0)
				err = h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: head.Version, Entries: made})
				if !errors.Is(err, es.ErrConflict) {
					return made[0], err
				}
			}
		})
		wantVersion(t, h, id, writers+1)
		journal, err := read(t, h, id, 1, writers+1)
		if err != nil || len(won) != writers {
			t.Fatalf("%d writers succeeded, then: %v", len(won), err)
		}
		for _, entry := range won {
			wantEntry(t, journal[entry.SeqNr-2], entry)
		}
	}},
	{"a writer that heeds requests to yield is refused once", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 1, 0)
		write := func(expected uint64, heed bool) error {
			return h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: expected, Entries: entries(expected, 1, 0), Heed: heed})
		}
		// the other aggregate does not exist, and is not created
		for _, asked := range []es.AggregateID{id, newID()} {
			if err := h.Gateway.AskToYield(t.Context(), asked); err != nil {
				t.Fatal(err)
			}
			if asked != id {
				wantVersion(t, h, asked, 0)
			}
		}
		wantConflict(t, write(1, true))
		wantVersion(t, h, id, 1)
		if err := errors.Join(write(1, false), write(2, true)); err != nil {
			t.Errorf("a write that ignores the mark is refused, or the mark stays: %v", err)
		}
		wantVersion(t, h, id, 3)
	}},
	{"exactly one of several writers handles a command", Settings{}, func(t *testing.T, h Harness) {
		shared := receipt(newID().ID)
		ids := make([]es.AggregateID, writers)
		won := race(t, func(writer int) (es.Entry, error) {
			ids[writer] = newID()
			made := entries(0, 1, 0)
			err := h.Gateway.Append(t.Context(), es.Append{ID: ids[writer], Entries: made, Receipts: []es.Receipt{shared}})
			var handled *es.HandledError
			if errors.As(err, &handled) {
				err = es.ErrConflict // a HandledError also means that the race was lost
			}
			return made[0], err
		})
		created := 0
		for _, id := range ids {
			head, err := h.Gateway.Head(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			created += int(head.Version)
		}
		if len(won) != 1 || created != 1 {
			t.Fatalf("%d writers won and %d aggregates were created", len(won), created)
		}
		wantReceipt(t, h, "", shared)
	}},
}

// race lets all writers write at the same time and returns the winners' entries. A loser must get ErrConflict.
func race(t *testing.T, write func(writer int) (es.Entry, error)) []es.Entry {
	t.Helper()
	var mutex sync.Mutex
	var won []es.Entry
	var failed []error
	var done sync.WaitGroup
	ready := make(chan struct{})
	for writer := range writers {
		done.Go(func() {
			<-ready
			entry, err := write(writer)
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err == nil:
				won = append(won, entry)
			case !errors.Is(err, es.ErrConflict):
				failed = append(failed, fmt.Errorf("writer %d: %w", writer, err))
			}
		})
	}
	close(ready)
	done.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	return won
}
