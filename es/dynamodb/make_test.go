package dynamodb_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

func entries(after uint64, count int) []es.Entry {
	made := make([]es.Entry, count)
	for i := range made {
		seqNr, eventID := after+uint64(i)+1, ulid.Make().String()
		made[i] = es.Entry{
			SeqNr: seqNr, EventID: eventID, OccurredAt: time.UnixMilli(1_700_000_000_123),
			Payload: fmt.Appendf(nil, `{"id":%q}`, eventID),
		}
	}
	return made
}

// begin creates an aggregate with this number of entries.
func begin(t *testing.T, gateway *dynamodb.Gateway, count int) es.AggregateID {
	t.Helper()
	id := newID()
	beginAs(t, gateway, id, count)
	return id
}

func beginAs(t *testing.T, gateway *dynamodb.Gateway, id es.AggregateID, count int) {
	t.Helper()
	for made := 0; made < count; {
		next := min(es.MaxAppend, count-made)
		write := es.Append{ID: id, ExpectedVersion: uint64(made), Entries: entries(uint64(made), next)}
		if made == 0 {
			write.FirstSnapshot = []byte(`{"state":1}`)
		}
		if err := gateway.Append(t.Context(), write); err != nil {
			t.Fatal(err)
		}
		made += next
	}
}

func receipt() es.Receipt {
	return es.Receipt{
		CommandID: ulid.Make().String(), Fingerprint: "f", Answer: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour),
	}
}

// readAll counts the entries that arrive in order until the end or an error.
func readAll(t *testing.T, gateway *dynamodb.Gateway, id es.AggregateID, upTo uint64) (uint64, error) {
	t.Helper()
	var last uint64
	for entry, err := range gateway.Entries(t.Context(), id, 0, upTo) {
		if err != nil {
			return last, err
		}
		if entry.SeqNr != last+1 {
			t.Fatalf("entry %d follows %d", entry.SeqNr, last)
		}
		last = entry.SeqNr
	}
	return last, nil
}

func wantVersion(t *testing.T, gateway *dynamodb.Gateway, id es.AggregateID, want uint64) {
	t.Helper()
	if head, err := gateway.Head(t.Context(), id); err != nil || head.Version != want {
		t.Errorf("version %d, %v; want %d", head.Version, err, want)
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, es.ErrUnavailable) {
		t.Errorf("got %v, want es.ErrUnavailable", err)
	}
}
