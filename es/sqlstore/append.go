package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// Append writes head, entries and receipts in one transaction. On SQLite, concurrent Appends share a transaction. After
// a call has met damaged data, it writes nothing and returns es.ErrDamaged: a restored backup would lack the events.
func (g *Gateway) Append(ctx context.Context, write es.Append) error {
	err := check(write)
	if met := g.trouble.Load(); err == nil && met != nil && errors.Is(met, es.ErrDamaged) {
		err = met
	}
	if err == nil {
		change := appending{gateway: g, write: write}
		if write.FirstSnapshot != nil {
			change.first = g.pack(write.ID, es.Snapshot{Version: 1, Payload: write.FirstSnapshot})
		}
		err = g.writer.write(ctx, change)
	}
	return g.explain(ctx, err, "append to %s", write.ID)
}

// check adds a rule of the tables to the port's rules: a command has at most one event.
func check(write es.Append) error {
	if err := write.Check(); err != nil {
		return err
	}
	commands := make(map[string]bool, len(write.Entries))
	for _, entry := range write.Entries {
		if entry.CommandID != "" && commands[entry.CommandID] {
			return fmt.Errorf("entry %d is not the first of command %s: the tables allow only one event per command", entry.SeqNr, entry.CommandID)
		}
		commands[entry.CommandID] = true
	}
	return nil
}

// appending is the change of an Append.
type appending struct {
	gateway *Gateway
	write   es.Append
	first   packedSnapshot
}

func (appending) appends() bool { return true }

func (a appending) apply(ctx context.Context, in session) error {
	err := a.moveHead(ctx, in)
	if err == nil {
		err = a.addEntries(ctx, in)
	}
	if err == nil && a.write.FirstSnapshot != nil {
		err = a.first.insert(ctx, in, a.gateway.dialect)
	}
	if err == nil {
		err = a.addReceipts(ctx, in)
	}
	if sqldialect.ClassOf(err) == sqldialect.Duplicate {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// moveHead updates the aggregate's row from the expected version to the next one, or inserts it. On MySQL, other
// writers to the aggregate wait here for the row lock.
func (a appending) moveHead(ctx context.Context, in session) error {
	id, expected := a.write.ID, a.write.ExpectedVersion
	next := a.write.NextVersion()
	if expected == 0 {
		_, err := in.ExecContext(ctx,
			"INSERT INTO aggregates (tenant_code, aggregate_id, type, version, snapshot_version, created_at) VALUES (?, ?, ?, ?, 0, ?)",
			id.Tenant, id.String(), id.Type, next, a.gateway.settings.Clock().UnixMicro())
		return err
	}
	statement := "UPDATE aggregates SET version = ?, asked = 0 WHERE tenant_code = ? AND aggregate_id = ? AND version = ?"
	if a.write.Heed {
		statement += " AND asked = 0"
	}
	moved, err := changed(ctx, in, statement, next, id.Tenant, id.String(), expected)
	if err == nil && moved == 0 {
		return errRefused
	}
	return err
}

func (a appending) addEntries(ctx context.Context, in session) error {
	args := make([]any, 0, len(a.write.Entries)*len(eventColumns))
	for _, entry := range a.write.Entries {
		args = append(args, eventValues(a.write.ID, entry)...)
	}
	_, err := in.ExecContext(ctx, a.gateway.dialect.Insert("events", eventColumns, len(a.write.Entries)), args...)
	return err
}

// refused finds the reason: nil when this write was already committed, *HandledError when a command was handled before,
// *InconsistentError when an event exists although the head is at the expected version, and ErrConflict otherwise.
func (a appending) refused(ctx context.Context, in session) error {
	id, expected := a.write.ID, a.write.ExpectedVersion
	eventID, _, err := readEventID(ctx, in, id, expected+1)
	if err != nil || eventID == a.write.Entries[0].EventID {
		return err // this write was committed, but its answer was lost
	}
	if err := a.handled(ctx, in); err != nil {
		return err
	}
	for _, entry := range a.write.Entries {
		_, exists, err := readEventID(ctx, in, id, entry.SeqNr)
		if err == nil && exists {
			err = contradicts(ctx, in, id, expected, entry.SeqNr)
		}
		if err != nil {
			return err
		}
	}
	head, err := readHead(ctx, in, id)
	if err != nil {
		return err
	}
	if head.Version == expected {
		return fmt.Errorf("%w: another writer has asked for a turn", es.ErrConflict)
	}
	return fmt.Errorf("%w: expected %d, found %d", es.ErrConflict, expected, head.Version)
}

// AskForTurn marks the aggregate's row. The mark only affects an Append with Heed.
func (g *Gateway) AskForTurn(ctx context.Context, id es.AggregateID) error {
	err := g.writer.write(ctx, statement("UPDATE aggregates SET asked = 1 WHERE tenant_code = ? AND aggregate_id = ?", id.Tenant, id.String()))
	return g.explain(ctx, err, "ask for a turn at %s", id)
}

// readEventID returns the id of the aggregate's event with this number; false if there is none.
func readEventID(ctx context.Context, in session, id es.AggregateID, seqNr uint64) (eventID string, found bool, err error) {
	err = in.GetContext(ctx, &eventID, "SELECT event_id FROM events WHERE tenant_code = ? AND aggregate_id = ? AND version = ?",
		id.Tenant, id.String(), seqNr)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return eventID, err == nil, err
}
