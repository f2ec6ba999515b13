package estest

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var appendContracts = []contract{
	{"written entries are read", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		wantVersion(t, h, id, 0)
		first := grow(t, h, id, 0, 1, 0)
		wantVersion(t, h, id, 1)
		more := grow(t, h, id, 1, 3, 0)
		wantVersion(t, h, id, 4)
		wantEntries(t, h, id, 0, append(first, more...))
	}},
	{"a version that others have written is a conflict", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 3, 0)
		for _, expected := range []uint64{0, 1, 2} {
			wantConflict(t, h.Gateway.Append(t.Context(), es.Append{
				ID: id, ExpectedVersion: expected, Entries: entries(expected, 1, 0),
			}))
		}
		wantVersion(t, h, id, 3)
		wantEntries(t, h, id, 0, written)
	}},
	{"a version ahead of the head is a conflict", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		wantConflict(t, h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1, 0)}))
		wantVersion(t, h, id, 0)
		written := grow(t, h, id, 0, 2, 0)
		wantConflict(t, h.Gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 3, Entries: entries(3, 1, 0)}))
		wantVersion(t, h, id, 2)
		wantEntries(t, h, id, 0, written)
	}},
	{"a conflict writes nothing", Settings{}, func(t *testing.T, h Harness) {
		id, command := newID(), ulid.Make().String()
		written := grow(t, h, id, 0, 2, 0)
		wantConflict(t, h.Gateway.Append(t.Context(), es.Append{
			ID: id, ExpectedVersion: 1, Entries: entries(1, 5, 0), Receipts: []es.Receipt{receipt(command)},
		}))
		wantNoReceipt(t, h, "", command)
		wantVersion(t, h, id, 2)
		wantEntries(t, h, id, 0, written)
		if _, err := read(t, h, id, 2, 3); err == nil {
			t.Error("an entry of the failed write was stored")
		}
	}},
	{"a write up to the limit is accepted, a larger one is refused", Settings{}, func(t *testing.T, h Harness) {
		id, command := newID(), ulid.Make().String()
		full := es.Append{ID: id, Entries: entries(0, es.MaxAppend-1, 1000), Receipts: []es.Receipt{receipt(command)}}
		mustAppend(t, h, full)
		wantEntries(t, h, id, 0, full.Entries)
		wantReceipt(t, h, "", full.Receipts[0])

		version := uint64(len(full.Entries))
		over := es.Append{
			ID: id, ExpectedVersion: version, Entries: entries(version, es.MaxAppend, 0),
			Receipts: []es.Receipt{receipt(ulid.Make().String())},
		}
		if err := h.Gateway.Append(t.Context(), over); err == nil {
			t.Errorf("%d entries and a receipt were accepted", es.MaxAppend)
		}
		wantVersion(t, h, id, version)
	}},
	{"entries that do not follow the head are refused", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		written := grow(t, h, id, 0, 2, 0)
		gap := append(entries(2, 1, 0), entries(4, 1, 0)...)
		for name, write := range map[string]es.Append{
			"nothing":                   {ID: id, ExpectedVersion: 2},
			"a gap":                     {ID: id, ExpectedVersion: 2, Entries: gap},
			"a wrong start":             {ID: id, ExpectedVersion: 2, Entries: entries(1, 1, 0)},
			"a first snapshot too late": {ID: id, ExpectedVersion: 2, Entries: entries(2, 1, 0), FirstSnapshot: state(1)},
		} {
			if err := h.Gateway.Append(t.Context(), write); err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		wantVersion(t, h, id, 2)
		wantEntries(t, h, id, 0, written)
	}},
}
