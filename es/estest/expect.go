package estest

import (
	"bytes"
	"errors"
	"iter"
	"testing"
	"time"

	"example.com/threads/es"
)

func wantVersion(t *testing.T, h Harness, id es.AggregateID, want uint64) es.Head {
	t.Helper()
	head, err := h.Gateway.Head(t.Context(), id)
	if err != nil {
		t.Fatalf("head of %s: %v", id, err)
	}
	if head.Version != want {
		t.Fatalf("%s is at version %d, want %d", id, head.Version, want)
	}
	return head
}

// wantEntries reads the aggregate's entries after a version and compares them with want.
func wantEntries(t *testing.T, h Harness, id es.AggregateID, after uint64, want []es.Entry) {
	t.Helper()
	got, err := read(t, h, id, after, after+uint64(len(want)))
	if err != nil {
		t.Fatalf("after %d of %d entries of %s: %v", len(got), len(want), id, err)
	}
	if len(got) != len(want) {
		t.Fatalf("read %d entries of %s, want %d", len(got), id, len(want))
	}
	for i := range want {
		wantEntry(t, got[i], want[i])
	}
}

// wantEntry compares what every store must return: number, id, time to the millisecond, and payload to the byte.
func wantEntry(t *testing.T, got, want es.Entry) {
	t.Helper()
	off := got.OccurredAt.Sub(want.OccurredAt).Abs()
	if got.SeqNr != want.SeqNr || got.EventID != want.EventID || off >= time.Millisecond || !bytes.Equal(got.Payload, want.Payload) {
		t.Fatalf("read entry %d %s of %s:\n%s\nwant %d %s of %s:\n%s", got.SeqNr, got.EventID, got.OccurredAt, got.Payload,
			want.SeqNr, want.EventID, want.OccurredAt, want.Payload)
	}
}

func read(t *testing.T, h Harness, id es.AggregateID, after, upTo uint64) ([]es.Entry, error) {
	t.Helper()
	return collect(t, h.Gateway.Entries(t.Context(), id, after, upTo))
}

func readAt(t *testing.T, h Harness, id es.AggregateID, seqNrs ...uint64) ([]es.Entry, error) {
	t.Helper()
	return collect(t, h.Gateway.EntriesAt(t.Context(), id, seqNrs))
}

func collect(t *testing.T, entries iter.Seq2[es.Entry, error]) ([]es.Entry, error) {
	t.Helper()
	var got []es.Entry
	var failed error
	for entry, err := range entries {
		if failed != nil {
			t.Fatal("the iteration continues after an error")
		}
		if failed = err; err == nil {
			got = append(got, entry)
		}
	}
	return got, failed
}

func wantReceipt(t *testing.T, h Harness, tenant es.Tenant, want es.Receipt) {
	t.Helper()
	got, found, err := h.Gateway.Receipt(t.Context(), tenant, want.CommandID)
	if err != nil || !found {
		t.Fatalf("receipt of command %s: found %t, %v", want.CommandID, found, err)
	}
	wantSameReceipt(t, got, want)
}

// wantSameReceipt allows a store to keep a receipt for up to a second longer.
func wantSameReceipt(t *testing.T, got, want es.Receipt) {
	t.Helper()
	longer := got.ExpiresAt.Sub(want.ExpiresAt)
	if got.CommandID != want.CommandID || got.Fingerprint != want.Fingerprint || !bytes.Equal(got.Answer, want.Answer) ||
		longer < -time.Millisecond || longer > time.Second {
		t.Fatalf("the receipt is %+v, want %+v", got, want)
	}
}

func wantNoReceipt(t *testing.T, h Harness, tenant es.Tenant, commandID string) {
	t.Helper()
	if got, found, err := h.Gateway.Receipt(t.Context(), tenant, commandID); err != nil || found {
		t.Fatalf("receipt of command %s: found %t %+v, %v", commandID, found, got, err)
	}
}

func wantConflict(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, es.ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
}

func wantHandled(t *testing.T, err error, want es.Receipt) {
	t.Helper()
	var handled *es.HandledError
	if !errors.As(err, &handled) {
		t.Fatalf("got %v, want a HandledError", err)
	}
	wantSameReceipt(t, handled.Receipt, want)
}
