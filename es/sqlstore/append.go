package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// Append writes head, entries and receipts in one transaction. After a call has met damaged data, it writes nothing and
// returns es.ErrDamaged: a restored backup would lack the events.
func (g *Gateway) Append(ctx context.Context, write es.Append) error {
	err := write.Check()
	if err == nil && g.damaged.Load() {
		err = es.ErrDamaged
	}
	if err == nil {
		var first []any
		if write.FirstSnapshot != nil {
			first = g.snapshotValues(write.ID, es.Snapshot{Version: 1, Payload: write.FirstSnapshot})
		}
		err = g.writer.write(ctx, func(ctx context.Context, in session) error { return g.append(ctx, in, write, first) })
	}
	if errors.Is(err, errRefused) {
		err = g.reason(ctx, write)
	}
	return g.explain(ctx, err, "append to %s", write.ID)
}

var (
	// eventColumns are the inserted columns; the database adds sequence_number.
	eventColumns = []string{
		"tenant_code", "aggregate_type", "aggregate_id", "version", "event_id", "command_id", "correlation_id", "user_id",
		"event_type", "event_content", "occurred_at",
	}
	receiptColumns = []string{"tenant_code", "command_id", "fingerprint", "answer", "expires_at"}
)

// append is the change of Append; first are the values of the first snapshot, if there is one.
func (g *Gateway) append(ctx context.Context, in session, write es.Append, first []any) error {
	err := g.enterQueue(ctx, in)
	if err == nil {
		err = g.moveHead(ctx, in, write)
	}
	if err == nil {
		id, args := write.ID, make([]any, 0, len(write.Entries)*len(eventColumns))
		for i, entry := range write.Entries {
			// The tables have a command's id once: with its first event.
			command := sql.Null[string]{V: entry.CommandID, Valid: entry.CommandID != "" && (i == 0 || write.Entries[i-1].CommandID != entry.CommandID)}
			args = append(args, id.Tenant, id.Type, id.String(), entry.SeqNr, entry.EventID, command, entry.CorrelationID, entry.UserID,
				entry.EventType, string(entry.Payload), entry.OccurredAt.UnixMicro())
		}
		_, err = in.ExecContext(ctx, g.dialect.Insert("events", eventColumns, len(write.Entries)), args...)
	}
	if err == nil && first != nil {
		_, err = in.ExecContext(ctx, g.dialect.Insert("snapshots", snapshotColumns, 1), first...)
	}
	if err == nil && len(write.Receipts) > 0 {
		var args []any
		for _, receipt := range write.Receipts {
			answer := append([]byte{}, receipt.Answer...) // never nil, which would be NULL
			args = append(args, write.ID.Tenant, receipt.CommandID, receipt.Fingerprint, answer, receipt.ExpiresAt.UnixMicro())
		}
		_, err = in.ExecContext(ctx, g.dialect.Insert("receipts", receiptColumns, len(write.Receipts)), args...)
	}
	if err != nil && sqldialect.ClassOf(err) == sqldialect.Duplicate {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// enterQueue takes the shared lock on the queue's row until the transaction ends, where transactions run concurrently.
// It must come before the events get their numbers, because [queue.Read] relies on that.
func (g *Gateway) enterQueue(ctx context.Context, in session) error {
	if !g.concurrent {
		return nil
	}
	_, found, err := readRow[int](ctx, in, "SELECT id FROM event_queue WHERE id = 1"+g.dialect.ForShare())
	if err == nil && !found {
		err = errors.New("the event store's table event_queue has no row: run its migrations again")
	}
	return err
}

// moveHead updates the aggregate's row from the expected version to the next one, or inserts it.
func (g *Gateway) moveHead(ctx context.Context, in session, write es.Append) error {
	if write.ExpectedVersion == 0 {
		return g.insertHead(ctx, in, write.ID, es.Head{Version: write.NextVersion()})
	}
	statement := "UPDATE aggregates SET version = ?, asked = 0 WHERE tenant_code = ? AND aggregate_id = ? AND version = ?"
	if write.Heed {
		statement += " AND asked = 0"
	}
	moved, err := sqldialect.Changed(ctx, in, statement,
		write.NextVersion(), write.ID.Tenant, write.ID.String(), write.ExpectedVersion)
	if err == nil && moved == 0 {
		return errRefused
	}
	return err
}

func (g *Gateway) insertHead(ctx context.Context, in session, id es.AggregateID, head es.Head) error {
	_, err := in.ExecContext(ctx,
		"INSERT INTO aggregates (tenant_code, aggregate_id, type, version, snapshot_version, created_at) VALUES (?, ?, ?, ?, ?, ?)",
		id.Tenant, id.String(), id.Type, head.Version, head.SnapshotVersion, g.settings.Clock().UnixMicro())
	return err
}

// reason finds out why the write was refused; nil when it was already committed.
func (g *Gateway) reason(ctx context.Context, write es.Append) error {
	next, found, err := readRow[entryRow](ctx, g.DB, selectEntries+"version > ? ORDER BY version LIMIT 1",
		write.ID.Tenant, write.ID.String(), write.ExpectedVersion)
	if err != nil || next.EventID == write.Entries[0].EventID {
		return err // this write was committed, but its answer was lost
	}
	if err := g.handled(ctx, write); err != nil {
		return err
	}
	switch head, err := g.storedHead(ctx, g.DB, write.ID, ""); {
	case err != nil:
		return err
	case head.Version != write.ExpectedVersion:
		return fmt.Errorf("%w: expected %d, found %d", es.ErrConflict, write.ExpectedVersion, head.Version)
	case found:
		return &es.InconsistentError{ID: write.ID, Head: write.ExpectedVersion, Event: next.Version}
	}
	return fmt.Errorf("%w: another writer has asked this one to yield", es.ErrConflict)
}

// handled returns a *HandledError when one of the commands was handled before. If only an event has its id, the receipt
// was pruned by an earlier release, and the error has only the command's id.
func (g *Gateway) handled(ctx context.Context, write es.Append) error {
	for _, receipt := range write.Receipts {
		found, is, err := g.Receipt(ctx, write.ID.Tenant, receipt.CommandID)
		if err != nil {
			return err
		}
		if is {
			return &es.HandledError{Receipt: found}
		}
	}
	for _, entry := range write.Entries {
		_, found, err := readRow[string](ctx, g.DB, "SELECT event_id FROM events WHERE tenant_code = ? AND aggregate_id = ? AND command_id = ?",
			write.ID.Tenant, write.ID.String(), entry.CommandID)
		if err != nil {
			return err
		}
		if found {
			return &es.HandledError{Receipt: es.Receipt{CommandID: entry.CommandID}}
		}
	}
	return nil
}

// Receipt reads consistently. A receipt is kept as long as its event, for ever, and so never counts as expired.
func (g *Gateway) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (es.Receipt, bool, error) {
	receipt, expires := es.Receipt{CommandID: commandID}, int64(0)
	err := g.DB.QueryRowContext(ctx, "SELECT fingerprint, answer, expires_at FROM receipts WHERE tenant_code = ? AND command_id = ?", tenant, commandID).
		Scan(&receipt.Fingerprint, &receipt.Answer, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return es.Receipt{}, false, nil
	}
	receipt.ExpiresAt = time.UnixMicro(expires).UTC()
	return receipt, err == nil, g.explain(ctx, err, "read the receipt of command %s", commandID)
}

// AskToYield marks the aggregate's row. The mark only affects an Append with Heed.
func (g *Gateway) AskToYield(ctx context.Context, id es.AggregateID) error {
	err := g.execute(ctx, "UPDATE aggregates SET asked = 1 WHERE tenant_code = ? AND aggregate_id = ?", id.Tenant, id.String())
	return g.explain(ctx, err, "ask the writers of %s to yield", id)
}

// execute writes one statement, which can be repeated.
func (g *Gateway) execute(ctx context.Context, statement string, args ...any) error {
	return g.writer.write(ctx, func(ctx context.Context, in session) error {
		_, err := in.ExecContext(ctx, statement, args...)
		return err
	})
}

// Draw inserts the sequence's row, or updates it. A retry after a lost answer draws again, which leaves a gap.
func (g *Gateway) Draw(ctx context.Context, tenant es.Tenant, sequence string) (uint64, error) {
	var drawn uint64
	err := g.writer.write(ctx, func(ctx context.Context, in session) error {
		_, err := in.ExecContext(ctx, "INSERT INTO sequences (tenant_code, name, drawn) VALUES (?, ?, 1)"+
			g.dialect.OnConflict("tenant_code", "name")+"drawn = drawn + 1", tenant, sequence)
		if err != nil {
			return err
		}
		return in.GetContext(ctx, &drawn, "SELECT drawn FROM sequences WHERE tenant_code = ? AND name = ?", tenant, sequence)
	})
	if err != nil { // the change may still be running
		return 0, g.explain(ctx, err, "draw from the sequence %s", sequence)
	}
	return drawn, nil
}
