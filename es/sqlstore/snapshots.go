package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/sqldialect"
)

// SaveSnapshot inserts the snapshot, points the aggregate to it and trims old ones, in one transaction. A pointer to a
// broken snapshot is replaced.
func (g *Gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	head, err := g.Head(ctx, id)
	if err == nil {
		err = head.Check(snapshot)
	}
	if err == nil && snapshot.Version <= head.SnapshotVersion {
		whole := false
		if whole, err = g.isComplete(ctx, g.db, id, head.SnapshotVersion); whole {
			return nil
		}
	}
	if err == nil {
		err = g.writer.write(ctx, snapshotting{gateway: g, id: id, packed: g.pack(id, snapshot), old: head.SnapshotVersion})
	}
	return g.explain(ctx, err, "save a snapshot of %s", id)
}

// isComplete reports whether the snapshot of the version can be read.
func (g *Gateway) isComplete(ctx context.Context, in session, id es.AggregateID, version uint64) (bool, error) {
	row, found, err := readSnapshot(ctx, in, id, version)
	if err != nil || !found {
		return false, err
	}
	_, err = g.packer.Unpack(row.packed())
	return err == nil, nil
}

// readSnapshot returns the row of a snapshot; false if there is none.
func readSnapshot(ctx context.Context, in session, id es.AggregateID, version uint64) (row snapshotRow, found bool, err error) {
	err = in.GetContext(ctx, &row, "SELECT version, encoding, checksum, snapshot FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?",
		id.Tenant, id.String(), version)
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// snapshotting is the change of SaveSnapshot.
type snapshotting struct {
	upkeep
	gateway *Gateway
	id      es.AggregateID
	packed  packedSnapshot
	old     uint64 // the pointer as read: if it is not before the snapshot, its snapshot cannot be read
}

// apply first writes the snapshot, which is large, and then locks the aggregate's row, so that commands do not wait for
// the write. A complete snapshot of the same version is kept; it may be the state after event 1.
func (s snapshotting) apply(ctx context.Context, in session) error {
	tenant, id, version := s.id.Tenant, s.id.String(), s.packed.version
	whole, err := s.gateway.isComplete(ctx, in, s.id, version)
	if err == nil && !whole {
		_, err = in.ExecContext(ctx, "DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?", tenant, id, version)
	}
	if err == nil && !whole {
		err = s.packed.insert(ctx, in, s.gateway.dialect)
	}
	if sqldialect.ClassOf(err) == sqldialect.Duplicate {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if err != nil {
		return err
	}
	moved, err := changed(ctx, in, "UPDATE aggregates SET snapshot_version = ? WHERE tenant_code = ? AND aggregate_id = ? "+
		"AND (snapshot_version < ? OR snapshot_version = ? OR snapshot_version > version)", version, tenant, id, version, s.old)
	if err == nil && moved == 0 && s.old != version {
		return errRefused
	}
	if err != nil {
		return err
	}
	return s.trimSnapshots(ctx, in)
}

// trimSnapshots deletes the snapshots before the latest, beyond the number to keep, but never the state after event 1.
func (s snapshotting) trimSnapshots(ctx context.Context, in session) error {
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

// Snapshots reads one snapshot at a time, because a caller seldom needs a second.
func (g *Gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return func(yield func(es.Snapshot, error) bool) {
		for upTo := head.Version; upTo > 0; {
			var row snapshotRow
			err := g.db.GetContext(ctx, &row, selectSnapshot, id.Tenant, id.String(), upTo)
			if errors.Is(err, sql.ErrNoRows) {
				return
			}
			if err != nil {
				yield(es.Snapshot{}, g.explain(ctx, err, "read a snapshot of %s", id))
				return
			}
			upTo = row.Version - 1
			state, err := g.packer.Unpack(row.packed())
			if err != nil {
				g.settings.Logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
					"tenant", id.Tenant, "aggregate", id.String(), "seq_nr", row.Version, "error", err)
				continue
			}
			if !yield(es.Snapshot{Version: row.Version, Payload: state}, nil) {
				return
			}
		}
	}
}

var snapshotColumns = []string{
	"tenant_code", "aggregate_id", "version", "aggregate_type", "encoding", "checksum", "snapshot", "created_at",
}

type snapshotRow struct {
	Version  uint64 `db:"version"`
	Encoding string `db:"encoding"`
	Checksum string `db:"checksum"`
	Snapshot []byte `db:"snapshot"`
}

func (r snapshotRow) packed() packing.Packed {
	return packing.Packed{Bytes: r.Snapshot, Encoding: r.Encoding, Checksum: r.Checksum}
}

// packedSnapshot is a snapshot ready to be stored. It is compressed before the transaction begins, because that takes
// time.
type packedSnapshot struct {
	version uint64
	values  []any
}

func (g *Gateway) pack(id es.AggregateID, snapshot es.Snapshot) packedSnapshot {
	packed := g.packer.Pack(snapshot.Payload)
	return packedSnapshot{snapshot.Version, []any{
		id.Tenant, id.String(), snapshot.Version, id.Type, packed.Encoding, packed.Checksum, packed.Bytes, g.settings.Clock().UnixMicro(),
	}}
}

func (p packedSnapshot) insert(ctx context.Context, in session, dialect sqldialect.Dialect) error {
	_, err := in.ExecContext(ctx, dialect.Insert("snapshots", snapshotColumns, 1), p.values...)
	return err
}
