package estest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

func newID() es.AggregateID {
	return es.AggregateID{Type: "notebook", ID: ulid.Make().String()}
}

// entries returns count entries after a version, each with a payload of about size bytes.
func entries(after uint64, count, size int) []es.Entry {
	made := make([]es.Entry, count)
	for i := range made {
		seqNr, eventID := after+uint64(i)+1, ulid.Make().String()
		payload := fmt.Sprintf(`{"type":"Tested","id":%q,"seq_nr":%d,"text":"<&>\u00e9 é 😀`, eventID, seqNr)
		payload += strings.Repeat("x", max(0, size-len(payload))) + `"}`
		made[i] = es.Entry{
			SeqNr: seqNr, EventID: eventID, EventType: "Tested",
			OccurredAt: time.Date(2026, 2, 28, 23, 59, 59, 999_123_000, time.UTC).Add(time.Duration(seqNr) * time.Second),
			UserID:     ulid.Make().String(), CommandID: ulid.Make().String(), CorrelationID: ulid.Make().String(),
			Payload: []byte(payload),
		}
	}
	return made
}

// grow appends entries to an aggregate, as many per write as allowed, and returns them.
func grow(t *testing.T, h Harness, id es.AggregateID, after uint64, count, size int) []es.Entry {
	t.Helper()
	made := entries(after, count, size)
	for done := 0; done < count; {
		next := min(done+es.MaxAppend, count)
		write := es.Append{ID: id, ExpectedVersion: after + uint64(done), Entries: made[done:next]}
		if write.ExpectedVersion == 0 {
			write.FirstSnapshot = state(1)
		}
		mustAppend(t, h, write)
		done = next
	}
	return made
}

// state returns a state of an aggregate at a version.
func state(version uint64) []byte { return fmt.Appendf(nil, `{"state":%d}`, version) }

// noise returns a state of about size bytes that hardly compresses.
func noise(size int) []byte {
	random := make([]byte, size*3/4)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	return fmt.Appendf(nil, `{"noise":%q}`, base64.StdEncoding.EncodeToString(random))
}

func receipt(commandID string) es.Receipt {
	return es.Receipt{
		CommandID:   commandID,
		Fingerprint: "of " + commandID,
		Answer:      fmt.Appendf(nil, `{"answer":%q}`, ulid.Make()),
		ExpiresAt:   time.Now().Add(24 * time.Hour),
	}
}

func mustAppend(t *testing.T, h Harness, write es.Append) {
	t.Helper()
	if err := h.Gateway.Append(t.Context(), write); err != nil {
		t.Fatalf("append %d entries to %s at version %d: %v", len(write.Entries), write.ID, write.ExpectedVersion, err)
	}
}
