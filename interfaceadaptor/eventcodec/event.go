package eventcodec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// occurredAtFormat is RFC 3339 in UTC with microseconds.
const occurredAtFormat = "2006-01-02T15:04:05.000000Z07:00"

// wireEvent is the JSON of every event: the envelope, and those of the other fields that its type has.
type wireEvent struct {
	Type      string                     `json:"type"`
	ID        plainID[thread.Event]      `json:"id"`
	Aggregate wireID[thread.Thread]      `json:"aggregate_id"`
	SeqNr     uint64                     `json:"seq_nr"`
	Name      string                     `json:"name,omitempty"`
	Members   *wireMembers               `json:"members,omitempty"`
	Member    *wireMember                `json:"member,omitempty"`
	MemberID  *wireID[thread.Member]     `json:"member_id,omitempty"`
	User      *wireID[ident.UserAccount] `json:"user_account_id,omitempty"`
	Role      *wireRole                  `json:"role,omitempty"`
	Message   *wireMessage               `json:"message,omitempty"`
	MessageID *wireID[thread.Message]    `json:"message_id,omitempty"`

	Executor      *wireID[ident.UserAccount] `json:"executor_id,omitempty"`
	OccurredAt    string                     `json:"occurred_at"`
	Tenant        string                     `json:"tenant_code"`
	CommandID     string                     `json:"command_id,omitempty"`
	CorrelationID string                     `json:"correlation_id,omitempty"`
	CausationID   string                     `json:"causation_id,omitempty"`
	Source        string                     `json:"source,omitempty"`
	ClientIP      string                     `json:"client_ip,omitempty"`
	RequestID     string                     `json:"request_id,omitempty"`
}

// Encode writes an event and its envelope as JSON.
func Encode(recorded usecase.Recorded[thread.Event]) ([]byte, error) {
	w := wireEvent{
		Type:          TypeOf(recorded.Event),
		ID:            plainID[thread.Event]{idOf[thread.Event](recorded.EventID)},
		Aggregate:     wireID[thread.Thread]{idOf[thread.Thread](recorded.AggregateID)},
		SeqNr:         recorded.SeqNr,
		Executor:      &wireID[ident.UserAccount]{idOf[ident.UserAccount](recorded.Executor)},
		OccurredAt:    recorded.OccurredAt.UTC().Format(occurredAtFormat),
		Tenant:        recorded.Tenant.String(),
		CommandID:     recorded.CommandID,
		CorrelationID: recorded.CorrelationID,
		CausationID:   recorded.CausationID,
		Source:        recorded.Source,
		ClientIP:      recorded.ClientIP,
		RequestID:     recorded.RequestID,
	}
	w.fill(recorded.Event)
	return marshal(w)
}

// Decode reads an event and its envelope, whichever version of its JSON it was written in. What it can't read - an
// unknown type, a field that is missing or broken - is a [DecodeError].
func Decode(payload []byte) (usecase.Recorded[thread.Event], error) {
	var w wireEvent
	if err := json.Unmarshal(payload, &w); err != nil {
		return usecase.Recorded[thread.Event]{}, decodeError(payload, err)
	}
	event, err := w.event()
	if err != nil {
		return usecase.Recorded[thread.Event]{}, decodeError(payload, err)
	}
	envelope, err := w.envelope(event)
	if err != nil {
		return usecase.Recorded[thread.Event]{}, decodeError(payload, err)
	}
	return usecase.Recorded[thread.Event]{Envelope: envelope, Event: event}, nil
}

// idOf is the identifier that text stands for; zero for one that is none, which no envelope has.
func idOf[T any](text string) ident.Of[T] {
	id, _ := ident.Parse[T](text)
	return id
}

func (w wireEvent) envelope(event thread.Event) (usecase.Envelope, error) {
	occurredAt, err := time.Parse(time.RFC3339Nano, w.OccurredAt)
	if err != nil {
		return usecase.Envelope{}, fmt.Errorf("occurred_at: %w", err)
	}
	tenant, err := usecase.ParseTenant(w.Tenant)
	if err != nil {
		return usecase.Envelope{}, fmt.Errorf("tenant_code: %w", err)
	}
	executor, err := w.executor(event)
	if err != nil {
		return usecase.Envelope{}, err
	}
	if w.ID.id.IsZero() || w.Aggregate.id.IsZero() || w.SeqNr == 0 {
		return usecase.Envelope{}, errors.New("id, aggregate_id and seq_nr must be there")
	}
	return usecase.Envelope{
		EventID:       w.ID.id.String(),
		AggregateType: thread.AggregateType,
		AggregateID:   w.Aggregate.id.String(),
		SeqNr:         w.SeqNr,
		OccurredAt:    occurredAt.UTC(),
		CommandID:     w.CommandID,
		Caller: usecase.Caller{
			Tenant:        tenant,
			Executor:      executor.String(),
			RequestID:     w.RequestID,
			CorrelationID: w.CorrelationID,
			CausationID:   w.CausationID,
			Source:        w.Source,
			ClientIP:      w.ClientIP,
		},
	}, nil
}

// executor is who caused the event. The first events were written without; of those there is only the creation of
// a thread, which its Admin caused.
func (w wireEvent) executor(event thread.Event) (thread.UserID, error) {
	if w.Executor != nil {
		return w.Executor.id, nil
	}
	if created, isCreation := event.(thread.Created); isCreation {
		for _, member := range created.Members {
			if member.Role == thread.RoleAdmin {
				return member.User, nil
			}
		}
	}
	return thread.UserID{}, errors.New("executor_id must be there")
}

// DecodeError names the event that can't be read, as far as it could be made out. It does not unwrap to its cause: that a
// stored name is invalid is no fault of the one who asks now.
type DecodeError struct {
	EventID string
	Type    string
	SeqNr   uint64
	Cause   error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("event %q (type %q, seq_nr %d) can't be read: %v", e.EventID, e.Type, e.SeqNr, e.Cause)
}

func decodeError(payload []byte, cause error) error {
	e := &DecodeError{Cause: cause}
	var fields map[string]any
	_ = json.Unmarshal(payload, &fields) // whatever can be read helps; the cause is told either way
	e.EventID, _ = fields["id"].(string)
	e.Type, _ = fields["type"].(string)
	if number, ok := fields["seq_nr"].(float64); ok && number >= 0 {
		e.SeqNr = uint64(number)
	}
	return e
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
