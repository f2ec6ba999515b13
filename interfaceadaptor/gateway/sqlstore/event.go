package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
)

// eventColumns are what a writer gives; the database adds sequence_number.
var eventColumns = []string{
	"tenant_code", "aggregate_type", "aggregate_id", "version", "event_id", "command_id", "correlation_id", "user_id",
	"event_type", "event_content", "occurred_at",
}

func eventValues(id eventstore.AggregateID, entry eventstore.Entry) []any {
	return []any{
		id.Tenant, id.Type, id.String(), entry.SeqNr, entry.EventID, sql.Null[string]{V: entry.CommandID, Valid: entry.CommandID != ""},
		entry.CorrelationID, entry.UserID, entry.EventType, string(entry.Payload), entry.OccurredAt.UnixMicro(),
	}
}

const entryColumns = "version, event_id, command_id, correlation_id, user_id, event_type, event_content, occurred_at"

type entryRow struct {
	Version       uint64           `db:"version"`
	EventID       string           `db:"event_id"`
	CommandID     sql.Null[string] `db:"command_id"`
	CorrelationID string           `db:"correlation_id"`
	UserID        string           `db:"user_id"`
	EventType     string           `db:"event_type"`
	Content       []byte           `db:"event_content"`
	OccurredAt    int64            `db:"occurred_at"`
}

func (r entryRow) entry() eventstore.Entry {
	return eventstore.Entry{
		SeqNr: r.Version, EventID: r.EventID, EventType: r.EventType, OccurredAt: time.UnixMicro(r.OccurredAt).UTC(),
		UserID: r.UserID, CommandID: r.CommandID.V, CorrelationID: r.CorrelationID, Payload: r.Content,
	}
}

// EntryByCommand returns the entry that the aggregate's handling of a command left behind; false when it has not handled
// it.
func (g *Gateway) EntryByCommand(ctx context.Context, id eventstore.AggregateID, commandID string) (eventstore.Entry, bool, error) {
	entry, found, err := readByCommand(ctx, g.db, id, commandID)
	return entry, found, explain(ctx, g.dialect, err, "look for command %s in the journal of %s", commandID, id)
}

func readByCommand(ctx context.Context, in session, id eventstore.AggregateID, commandID string) (eventstore.Entry, bool, error) {
	var row entryRow
	err := in.GetContext(ctx, &row, "SELECT "+entryColumns+" FROM events WHERE tenant_code = ? AND aggregate_id = ? AND command_id = ?",
		id.Tenant, id.String(), commandID)
	if errors.Is(err, sql.ErrNoRows) {
		return eventstore.Entry{}, false, nil
	}
	return row.entry(), err == nil, err
}
