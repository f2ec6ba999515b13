package model

import (
	"time"

	"example.com/threads/usecase/query"
)

// HistoryEntry is the schema's HistoryEntry.
type HistoryEntry struct {
	SeqNr         int
	EventID       string
	Type          string
	OccurredAt    time.Time
	ExecutorID    string
	CommandID     string
	CorrelationID string
	CausationID   string
	Source        string
	RequestID     string
	Data          JSON
}

// NewHistoryEntry converts an event.
func NewHistoryEntry(e query.HistoryEntry) HistoryEntry {
	return HistoryEntry{
		SeqNr: int(e.SeqNr), EventID: e.EventID, Type: e.Type, OccurredAt: e.OccurredAt, ExecutorID: e.Executor,
		CommandID: e.CommandID, CorrelationID: e.CorrelationID, CausationID: e.CausationID, Source: e.Source, RequestID: e.RequestID,
		Data: e.Data,
	}
}

// ThreadState is the schema's ThreadState.
type ThreadState struct {
	Version int
	Name    string
	Deleted bool

	State query.ThreadState // reads members and messages
}

// StateMember is the schema's StateMember.
type StateMember struct {
	UserAccountID string
	Role          Role
	CreatedAt     time.Time
}

// StateMessage is the schema's StateMessage.
type StateMessage struct {
	ID            string
	UserAccountID string
	Text          string
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// NewThreadState converts an earlier state of a thread.
func NewThreadState(s query.ThreadState) ThreadState {
	return ThreadState{Version: int(s.Version), Name: s.Name, Deleted: s.Deleted, State: s}
}

// NewStateMember converts a member of an earlier state.
func NewStateMember(m query.StateMember) StateMember {
	return StateMember{UserAccountID: m.User.String(), Role: Role(m.Role), CreatedAt: m.CreatedAt}
}

// NewStateMessage converts a message of an earlier state.
func NewStateMessage(m query.StateMessage) StateMessage {
	return StateMessage{
		ID: m.ID.String(), UserAccountID: m.Sender.String(), Text: m.Text, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}
