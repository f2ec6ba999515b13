package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// entriesPage is the number of entries in memory at once: 3 MB if all have the maximum size.
const entriesPage = 200

const selectEntries = "SELECT " + entryColumns + " FROM events " +
	"WHERE tenant_code = ? AND aggregate_id = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?"

// Entries reads the table that Append writes, so it is never stale.
func (g *Gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for after < upTo {
			var page []entryRow
			err := g.db.SelectContext(ctx, &page, selectEntries, id.Tenant, id.String(), after, upTo, entriesPage)
			if err != nil {
				yield(es.Entry{}, g.explain(ctx, err, "read the journal of %s", id))
				return
			}
			for _, row := range page {
				if row.Version != after+1 {
					break
				}
				if !yield(row.entry(), nil) {
					return
				}
				after = row.Version
			}
			if after < upTo && (len(page) == 0 || page[len(page)-1].Version != after) {
				yield(es.Entry{}, &es.InconsistentError{ID: id, Head: upTo, Event: after + 1})
				return
			}
		}
	}
}

// EntriesAt implements [es.Lookup].
func (g *Gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for some := range slices.Chunk(seqNrs, entriesPage) {
			args := []any{id.Tenant, id.String()}
			for _, seqNr := range some {
				args = append(args, seqNr)
			}
			var page []entryRow
			err := g.db.SelectContext(ctx, &page, "SELECT "+entryColumns+" FROM events WHERE tenant_code = ? AND aggregate_id = ? "+
				"AND version IN ("+sqldialect.Marks(len(some))+") ORDER BY version", args...)
			if err != nil {
				yield(es.Entry{}, g.explain(ctx, err, "read the journal of %s", id))
				return
			}
			for i, seqNr := range some {
				if i == len(page) || page[i].Version != seqNr {
					yield(es.Entry{}, &es.InconsistentError{ID: id, Head: seqNrs[len(seqNrs)-1], Event: seqNr})
					return
				}
				if !yield(page[i].entry(), nil) {
					return
				}
			}
		}
	}
}

// eventColumns are the inserted columns; the database adds sequence_number.
var eventColumns = []string{
	"tenant_code", "aggregate_type", "aggregate_id", "version", "event_id", "command_id", "correlation_id", "user_id",
	"event_type", "event_content", "occurred_at",
}

func eventValues(id es.AggregateID, entry es.Entry) []any {
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

func (r entryRow) entry() es.Entry {
	return es.Entry{
		SeqNr: r.Version, EventID: r.EventID, EventType: r.EventType, OccurredAt: time.UnixMicro(r.OccurredAt).UTC(),
		UserID: r.UserID, CommandID: r.CommandID.V, CorrelationID: r.CorrelationID, Payload: r.Content,
	}
}

// EntryByCommand finds the entries of all commands, for ever: the command id is unique within an aggregate.
func (g *Gateway) EntryByCommand(ctx context.Context, id es.AggregateID, commandID string) (es.Entry, bool, error) {
	entry, found, err := readByCommand(ctx, g.db, id, commandID)
	return entry, found, g.explain(ctx, err, "look for command %s in the journal of %s", commandID, id)
}

func readByCommand(ctx context.Context, in session, id es.AggregateID, commandID string) (es.Entry, bool, error) {
	var row entryRow
	err := in.GetContext(ctx, &row, "SELECT "+entryColumns+" FROM events WHERE tenant_code = ? AND aggregate_id = ? AND command_id = ?",
		id.Tenant, id.String(), commandID)
	if errors.Is(err, sql.ErrNoRows) {
		return es.Entry{}, false, nil
	}
	return row.entry(), err == nil, err
}
