package estest

import (
	"errors"
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/estest/faulty"
)

var lostAnswerContracts = []contract{
	{"a creation whose answer is lost succeeds", Settings{}, func(t *testing.T, h Harness) {
		id, kept := newID(), receipt(ulid.Make().String())
		made := entries(0, 2, 0)
		h.LoseNextAnswer(func() {})
		mustAppend(t, h, es.Append{ID: id, Entries: made, FirstSnapshot: state(1), Receipts: []es.Receipt{kept}})
		wantVersion(t, h, id, 2)
		wantEntries(t, h, id, 0, made)
		wantReceipt(t, h, "", kept)
	}},
	{"a write whose answer is lost succeeds once", Settings{}, func(t *testing.T, h Harness) {
		id, kept := newID(), receipt(ulid.Make().String())
		grow(t, h, id, 0, 3, 0)
		made := entries(3, 2, 0)
		h.LoseNextAnswer(func() {})
		mustAppend(t, h, es.Append{ID: id, ExpectedVersion: 3, Entries: made, Receipts: []es.Receipt{kept}})
		wantVersion(t, h, id, 5)
		wantEntries(t, h, id, 3, made)
		wantReceipt(t, h, "", kept)
	}},
	{"also if others have written since", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, 1, 0)
		made := entries(1, 1, 0)
		var since []es.Entry
		h.LoseNextAnswer(func() { since = grow(t, h, id, 2, 3, 0) })
		mustAppend(t, h, es.Append{ID: id, ExpectedVersion: 1, Entries: made})
		wantVersion(t, h, id, 5)
		wantEntries(t, h, id, 1, append(made, since...))
	}},
	{"the same write sent again after a lost answer is not applied again", Settings{}, func(t *testing.T, h Harness) {
		write := es.Append{
			ID: newID(), Entries: entries(0, 2, 0), Receipts: []es.Receipt{receipt(ulid.Make().String())},
		}
		deaf := faulty.Gateway{EventPersistenceGateway: h.Gateway, Fault: faulty.LoseAnswer}
		if err := deaf.Append(t.Context(), write); !errors.Is(err, es.ErrUnavailable) {
			t.Fatalf("got %v, want %v", err, es.ErrUnavailable)
		}
		mustAppend(t, h, write)
		wantVersion(t, h, write.ID, 2)
		wantEntries(t, h, write.ID, 0, write.Entries)
	}},
}
