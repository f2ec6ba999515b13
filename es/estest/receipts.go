package estest

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var receiptContracts = []contract{
	{"a command that was never handled has no receipt", Settings{}, func(t *testing.T, h Harness) {
		wantNoReceipt(t, h, "", ulid.Make().String())
	}},
	{"a command is handled once", Settings{}, func(t *testing.T, h Harness) {
		id, first, other := newID(), receipt(ulid.Make().String()), receipt(ulid.Make().String())
		grow(t, h, id, 0, 1, 0)
		mustAppend(t, h, es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1, 0), Receipts: []es.Receipt{first}})
		wantReceipt(t, h, "", first)

		again := receipt(first.CommandID)
		err := h.Gateway.Append(t.Context(), es.Append{
			ID: id, ExpectedVersion: 2, Entries: entries(2, 2, 0), Receipts: []es.Receipt{other, again},
		})
		wantHandled(t, err, first)
		wantVersion(t, h, id, 2)
		wantReceipt(t, h, "", first)
		wantNoReceipt(t, h, "", other.CommandID)
	}},
	{"also when others have written since", Settings{}, func(t *testing.T, h Harness) {
		id, first := newID(), receipt(ulid.Make().String())
		mustAppend(t, h, es.Append{ID: id, Entries: entries(0, 1, 0), Receipts: []es.Receipt{first}})
		err := h.Gateway.Append(t.Context(), es.Append{ID: id, Entries: entries(0, 1, 0), Receipts: []es.Receipt{receipt(first.CommandID)}})
		wantHandled(t, err, first)
	}},
	{"also for another aggregate, and for a new one", Settings{}, func(t *testing.T, h Harness) {
		here, there, fresh, first := newID(), newID(), newID(), receipt(ulid.Make().String())
		mustAppend(t, h, es.Append{ID: here, Entries: entries(0, 1, 0), Receipts: []es.Receipt{first}})
		grow(t, h, there, 0, 1, 0)
		for _, write := range []es.Append{
			{ID: there, ExpectedVersion: 1, Entries: entries(1, 1, 0)},
			{ID: fresh, Entries: entries(0, 1, 0), FirstSnapshot: state(1)},
		} {
			write.Receipts = []es.Receipt{receipt(first.CommandID)}
			wantHandled(t, h.Gateway.Append(t.Context(), write), first)
			wantVersion(t, h, write.ID, write.ExpectedVersion)
		}
	}},
	{"another tenant's command is another command", Settings{}, func(t *testing.T, h Harness) {
		command := ulid.Make().String()
		for _, tenant := range []es.Tenant{"", "one", "two"} {
			id, kept := newID(), receipt(command)
			id.Tenant = tenant
			wantNoReceipt(t, h, tenant, command)
			mustAppend(t, h, es.Append{ID: id, Entries: entries(0, 1, 0), Receipts: []es.Receipt{kept}})
			wantReceipt(t, h, tenant, kept)
		}
	}},
}
