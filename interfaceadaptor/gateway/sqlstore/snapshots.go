package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/sqldialect"
)

// SaveSnapshot adds the snapshot, moves the aggregate's pointer to it and lets go of old ones, in one transaction.
func (g *Gateway) SaveSnapshot(ctx context.Context, id eventstore.AggregateID, snapshot eventstore.Snapshot) error {
	head, err := g.Head(ctx, id)
	if err != nil {
		return err
	}
	if wanted, err := head.Wants(snapshot); err != nil || !wanted {
		return explain(ctx, g.dialect, err, "save a snapshot of %s", id)
	}
	packed := g.pack(id, snapshot)
	return explain(ctx, g.dialect, g.writer.write(ctx, snapshotting{g, id, packed}), "save a snapshot of %s", id)
}

// snapshotting is the change that SaveSnapshot makes.
type snapshotting struct {
	gateway *Gateway
	id      eventstore.AggregateID
	packed  packedSnapshot
}

func (snapshotting) appends() bool { return false }

// apply writes what is large first and locks the aggregate's row afterwards, so that commands do not wait for it.
func (s snapshotting) apply(ctx context.Context, in session) error {
	var known int
	err := in.GetContext(ctx, &known, "SELECT COUNT(*) FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?",
		s.id.Tenant, s.id.String(), s.packed.version)
	if err == nil && known == 0 { // the first state is there already, and stays as it is
		err = s.packed.insert(ctx, in, s.gateway.dialect)
	}
	if s.gateway.dialect.Classify(err) == sqldialect.Duplicate {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if err != nil {
		return err
	}
	moved, err := changed(ctx, in, "UPDATE aggregates SET snapshot_version = ? WHERE tenant_code = ? AND aggregate_id = ? AND snapshot_version < ?",
		s.packed.version, s.id.Tenant, s.id.String(), s.packed.version)
	if err == nil && moved == 0 {
		return errRefused
	}
	if err != nil {
		return err
	}
	return s.letGo(ctx, in)
}

// refused is after somebody else was faster with this snapshot or a later one.
func (snapshotting) refused(context.Context, session) error { return nil }

// letGo deletes the snapshots before the latest, beyond the number to keep, and never the first state.
func (s snapshotting) letGo(ctx context.Context, in session) error {
	var newest uint64
	err := in.GetContext(ctx, &newest, "SELECT version FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version > 1 AND version < ? "+
		"ORDER BY version DESC LIMIT 1 OFFSET ?", s.id.Tenant, s.id.String(), s.packed.version, s.gateway.settings.SnapshotKeep)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = in.ExecContext(ctx, "DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version > 1 AND version <= ?",
			s.id.Tenant, s.id.String(), newest)
	}
	return err
}

const selectSnapshot = "SELECT version, encoding, checksum, snapshot FROM snapshots " +
	"WHERE tenant_code = ? AND aggregate_id = ? AND version <= ? ORDER BY version DESC LIMIT 1"

// Snapshots reads one after the other, because a caller seldom wants the second.
func (g *Gateway) Snapshots(ctx context.Context, id eventstore.AggregateID, head eventstore.Head) iter.Seq2[eventstore.Snapshot, error] {
	return func(yield func(eventstore.Snapshot, error) bool) {
		for upTo := head.Version; upTo > 0; {
			var row snapshotRow
			err := g.db.GetContext(ctx, &row, selectSnapshot, id.Tenant, id.String(), upTo)
			if errors.Is(err, sql.ErrNoRows) {
				return
			}
			if err != nil {
				yield(eventstore.Snapshot{}, explain(ctx, g.dialect, err, "read a snapshot of %s", id))
				return
			}
			upTo = row.Version - 1
			state, err := g.packer.Unpack(row.packed())
			if err != nil {
				g.settings.Logger.WarnContext(ctx, "a snapshot is passed over; an earlier one, or the events, will do",
					"tenant", id.Tenant, "aggregate", id.String(), "seq_nr", row.Version, "error", err)
				continue
			}
			if !yield(eventstore.Snapshot{Version: row.Version, Payload: state}, nil) {
				return
			}
		}
	}
}
