package es

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/segmentio/encoding/json"
)

// occurredAtFormat is RFC 3339 in UTC with microseconds.
const occurredAtFormat = "2006-01-02T15:04:05.000000Z07:00"

// envelopeHead and envelopeTail are the envelope's JSON: what comes before the event's own fields, and what comes after
// them.
type (
	envelopeHead struct {
		Type      string   `json:"type"`
		ID        id       `json:"id"`
		Aggregate objectID `json:"aggregate_id"`
		SeqNr     uint64   `json:"seq_nr"`
	}
	envelopeTail struct {
		Executor      objectID `json:"executor_id"`
		OccurredAt    string   `json:"occurred_at"`
		Tenant        string   `json:"tenant_code"`
		CommandID     string   `json:"command_id,omitempty"`
		CorrelationID string   `json:"correlation_id,omitempty"`
		CausationID   string   `json:"causation_id,omitempty"`
		Source        string   `json:"source,omitempty"`
		ClientIP      string   `json:"client_ip,omitempty"`
		RequestID     string   `json:"request_id,omitempty"`
		Traceparent   string   `json:"traceparent,omitempty"`
	}
)

// id is an identifier written as text; {"value": text} can be read too.
type id string

// objectID is an identifier written as {"value": text}; plain text can be read too.
type objectID struct {
	Value id `json:"value"`
}

// UnmarshalJSON reads both forms.
func (i *id) UnmarshalJSON(data []byte) error {
	text, err := IDText(data)
	*i = id(text)
	return err
}

// UnmarshalJSON reads both forms.
func (o *objectID) UnmarshalJSON(data []byte) error { return o.Value.UnmarshalJSON(data) }

// IDText returns the text of an identifier in JSON: a string, or {"value": string}. The current forms are parsed
// without the JSON decoder, which would double the time to decode an event.
func IDText(data []byte) (string, error) {
	plain, isObject := bytes.CutPrefix(data, []byte(`{"value":`))
	if isObject {
		plain = bytes.TrimSuffix(plain, []byte("}"))
	}
	if last := len(plain) - 1; last > 0 && plain[0] == '"' && bytes.IndexByte(plain[1:], '"') == last-1 && bytes.IndexByte(plain, '\\') < 0 {
		return string(plain[1:last]), nil
	}
	var object struct {
		Value string `json:"value"`
	}
	var into any = &object.Value
	if data[0] == '{' {
		into = &object
	}
	if err := json.Unmarshal(data, into); err != nil {
		return "", errors.New(`an id must be a string or {"value": string}`)
	}
	return object.Value, nil
}

func headOf(name string, e Envelope) envelopeHead {
	return envelopeHead{Type: name, ID: id(e.EventID), Aggregate: objectID{id(e.AggregateID)}, SeqNr: e.SeqNr}
}

func tailOf(e Envelope) envelopeTail {
	return envelopeTail{
		Executor:      objectID{id(e.Executor)},
		OccurredAt:    e.OccurredAt.UTC().Format(occurredAtFormat),
		Tenant:        e.Tenant.String(),
		CommandID:     e.CommandID,
		CorrelationID: e.CorrelationID,
		CausationID:   e.CausationID,
		Source:        e.Source,
		ClientIP:      e.ClientIP,
		RequestID:     e.RequestID,
		Traceparent:   e.Traceparent,
	}
}

// isText reports whether all texts are valid UTF-8, so that JSON can hold them unchanged.
func (t envelopeTail) isText() bool {
	for _, text := range []string{t.CommandID, t.CorrelationID, t.CausationID, t.Source, t.ClientIP, t.RequestID, t.Traceparent} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// envelope decodes an envelope, also from earlier versions of the program; canonical converts its ids.
func envelope(aggregateType string, canonical func(string) (string, error), h envelopeHead, t envelopeTail) (Envelope, error) {
	occurredAt, err := time.Parse(time.RFC3339Nano, t.OccurredAt)
	if err != nil {
		return Envelope{}, fmt.Errorf("occurred_at: %w", err)
	}
	tenant, err := ParseTenant(t.Tenant)
	if err != nil {
		return Envelope{}, fmt.Errorf("tenant_code: %w", err)
	}
	if h.SeqNr == 0 {
		return Envelope{}, errors.New("seq_nr is missing")
	}
	e := Envelope{
		AggregateType: aggregateType,
		SeqNr:         h.SeqNr,
		OccurredAt:    occurredAt.UTC(),
		CommandID:     t.CommandID,
		Traceparent:   t.Traceparent,
		Caller: Caller{
			Tenant:        tenant,
			RequestID:     t.RequestID,
			CorrelationID: t.CorrelationID,
			CausationID:   t.CausationID,
			Source:        t.Source,
			ClientIP:      t.ClientIP,
		},
	}
	for _, read := range []struct {
		field   string
		written id
		into    *string
	}{{"id", h.ID, &e.EventID}, {"aggregate_id", h.Aggregate.Value, &e.AggregateID}, {"executor_id", t.Executor.Value, &e.Executor}} {
		if *read.into, err = canonical(string(read.written)); err != nil {
			return e, fmt.Errorf("%s: %w", read.field, err)
		}
	}
	return e, nil
}
