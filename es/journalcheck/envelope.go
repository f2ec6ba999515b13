package journalcheck

import (
	"cmp"
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

// envelope is the part of every event's JSON that identifies it.
type envelope struct {
	Type       string `json:"type"`
	ID         anyID  `json:"id"`
	Aggregate  anyID  `json:"aggregate_id"`
	SeqNr      uint64 `json:"seq_nr"`
	OccurredAt string `json:"occurred_at"`
	Tenant     string `json:"tenant_code"`
	CommandID  string `json:"command_id"`
}

// anyID is an id as a string or as {"value": string}; the UUID form is read as a ULID.
type anyID string

// UnmarshalJSON implements json.Unmarshaler.
func (a *anyID) UnmarshalJSON(data []byte) error {
	text, err := es.IDText(data)
	*a = anyID(canonical(text))
	return err
}

// canonical returns a ULID or UUID as an upper-case ULID; any other text is unchanged.
func canonical(id string) string {
	const uuid = "01890535-c59c-72d5-08a8-dcea316374c8"
	if len(id) == len(uuid) {
		var value ulid.ULID
		if n, err := hex.Decode(value[:], []byte(strings.ReplaceAll(id, "-", ""))); err == nil && n == len(value) {
			return value.String()
		}
	}
	if value, err := ulid.ParseStrict(id); err == nil {
		return value.String()
	}
	return id
}

// contradictions compares an event's envelope with where it is stored. Fields that the store does not have are skipped.
func (e envelope) contradictions(id es.AggregateID, entry es.Entry) []es.Fault {
	var found []es.Fault
	compare := func(field, expected, says string) {
		if expected != says {
			found = append(found, es.Fault{Field: field, Expected: cmp.Or(expected, "nothing"), Found: cmp.Or(says, "nothing")})
		}
	}
	compare("aggregate_id", id.ID, string(e.Aggregate))
	compare("tenant_code", id.Tenant.String(), e.Tenant)
	if e.SeqNr != entry.SeqNr {
		compare("seq_nr", decimal(entry.SeqNr), decimal(e.SeqNr))
	}
	if entry.EventID != "" {
		compare("id", canonical(entry.EventID), string(e.ID))
	}
	if entry.EventType != "" {
		compare("type", entry.EventType, e.Type)
	}
	if entry.CommandID != "" {
		compare("command_id", entry.CommandID, e.CommandID)
	}
	if occurred, err := time.Parse(time.RFC3339Nano, e.OccurredAt); err != nil ||
		!entry.OccurredAt.IsZero() && occurred.Sub(entry.OccurredAt).Abs() >= time.Millisecond {
		compare("occurred_at", entry.OccurredAt.Format(time.RFC3339Nano), e.OccurredAt)
	}
	return found
}
