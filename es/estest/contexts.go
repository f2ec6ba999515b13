package estest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var contextContracts = []contract{
	{"cancelled", Settings{}, func(t *testing.T, h Harness) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		everyCall(t, h, ctx, func(name string, err error) {
			if !errors.Is(err, context.Canceled) || errors.Is(err, es.ErrUnavailable) {
				t.Errorf("%s: got %v, want context.Canceled", name, err)
			}
		})
	}},
	{"out of time", Settings{}, func(t *testing.T, h Harness) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		everyCall(t, h, ctx, func(name string, err error) {
			if !errors.Is(err, es.ErrUnavailable) {
				t.Errorf("%s: got %v, want es.ErrUnavailable", name, err)
			}
		})
	}},
	{"cancelled half-way through", Settings{}, func(t *testing.T, h Harness) {
		id := newID()
		grow(t, h, id, 0, long, longSize)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var failed error
		count := 0
		for _, err := range h.Gateway.Entries(ctx, id, 0, long) {
			cancel()
			if failed = err; err == nil {
				count++
			}
		}
		if !errors.Is(failed, context.Canceled) || count == long {
			t.Errorf("after %d entries: %v", count, failed)
		}
	}},
}

// everyCall makes each call of the port and checks that nothing was written.
func everyCall(t *testing.T, h Harness, ctx context.Context, check func(name string, err error)) {
	t.Helper()
	id := newID()
	written := grow(t, h, id, 0, 3, 0)
	save(t, h, id, 2)
	head := wantVersion(t, h, id, 3)
	kept := receipt(ulid.Make().String())
	gateway := h.Gateway

	check("Append", gateway.Append(ctx, es.Append{
		ID: id, ExpectedVersion: 3, Entries: entries(3, 1, 0), Receipts: []es.Receipt{kept},
	}))
	check("AskToYield", gateway.AskToYield(ctx, id))
	check("Verify", head.Verify(ctx, gateway, id))
	_, err := gateway.Head(ctx, id)
	check("Head", err)
	for _, err = range gateway.Entries(ctx, id, 0, 3) {
	}
	check("Entries", err)
	check("SaveSnapshot", gateway.SaveSnapshot(ctx, id, es.Snapshot{Version: 3, Payload: state(3)}))
	for _, err = range gateway.Snapshots(ctx, id, head) {
	}
	check("Snapshots", err)
	_, _, err = gateway.Receipt(ctx, "", kept.CommandID)
	check("Receipt", err)

	if after := wantVersion(t, h, id, 3); after.SnapshotVersion != head.SnapshotVersion {
		t.Errorf("a snapshot was saved")
	}
	wantEntries(t, h, id, 0, written)
	wantNoReceipt(t, h, "", kept.CommandID)
}
