package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/seq"
	"example.com/threads/es/internal/sqldialect"
)

type snapshotRow struct {
	Version  uint64 `db:"version"`
	Encoding string `db:"encoding"`
	Checksum string `db:"checksum"`
	Snapshot []byte `db:"snapshot"`
}

func (g *Gateway) unpack(row snapshotRow) ([]byte, error) {
	return g.packer.Unpack(packing.Packed{Bytes: row.Snapshot, Encoding: row.Encoding, Checksum: row.Checksum})
}

// snapshotColumns are the columns of a snapshot; the first three are its key.
var snapshotColumns = []string{
	"tenant_code", "aggregate_id", "version", "aggregate_type", "encoding", "checksum", "snapshot", "created_at",
}

// snapshotValues returns a snapshot's row. It is compressed before a transaction begins, because that takes time.
func (g *Gateway) snapshotValues(id es.AggregateID, snapshot es.Snapshot) []any {
	packed := g.packer.Pack(snapshot.Payload)
	return []any{
		id.Tenant, id.String(), snapshot.Version, id.Type, packed.Encoding, packed.Checksum, packed.Bytes, g.settings.Clock().UnixMicro(),
	}
}

// SaveSnapshot stores the snapshot, points the aggregate to it and trims old ones, in one transaction.
func (g *Gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	head, err := g.Head(ctx, id)
	if err == nil {
		err = head.Check(snapshot)
	}
	if err == nil && snapshot.Version <= head.SnapshotVersion {
		for latest, failed := range g.Snapshots(ctx, id, es.Head{Version: head.SnapshotVersion}) {
			if err = failed; err == nil && latest.Version == head.SnapshotVersion && latest.Broken == "" {
				return nil
			}
			break
		}
	}
	if err == nil {
		values := g.snapshotValues(id, snapshot)
		err = g.writer.write(ctx, func(ctx context.Context, in session) error {
			return g.saveSnapshot(ctx, in, id, snapshot.Version, values, head.SnapshotVersion)
		})
	}
	if errors.Is(err, errRefused) {
		return nil // another writer was faster
	}
	return g.explain(ctx, err, "save a snapshot of %s", id)
}

// saveSnapshot writes the snapshot, which is large, before it locks the aggregate's row, so that commands do not wait
// for that. old is the pointer as read: if it is not before the snapshot, its snapshot cannot be read.
func (g *Gateway) saveSnapshot(ctx context.Context, in session, id es.AggregateID, version uint64, values []any, old uint64) error {
	if _, err := in.ExecContext(ctx, g.dialect.Upsert("snapshots", snapshotColumns[:3], snapshotColumns, 1), values...); err != nil {
		return err
	}
	moved, err := sqldialect.Changed(ctx, in, "UPDATE aggregates SET snapshot_version = ? "+
		"WHERE tenant_code = ? AND aggregate_id = ? "+
		"AND (snapshot_version < ? OR snapshot_version = ? OR snapshot_version > version)", version, id.Tenant, id.String(), version, old)
	if err == nil && moved == 0 {
		return errRefused
	}
	if err != nil {
		return err
	}
	// Those before the latest, beyond the number to keep, go; but never the state after event 1.
	newest, found, err := readRow[uint64](ctx, in, "SELECT version FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version > 1 AND version < ? "+
		"ORDER BY version DESC LIMIT 1 OFFSET ?", id.Tenant, id.String(), version, g.settings.SnapshotKeep)
	if err == nil && found {
		_, err = in.ExecContext(ctx, "DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version > 1 AND version <= ?",
			id.Tenant, id.String(), newest)
	}
	return err
}

// Snapshots reads one snapshot at a time, because a caller seldom needs a second.
func (g *Gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	below := func(last snapshotRow) []any {
		return []any{id.Tenant, id.String(), cmp.Or(last.Version, head.Version+1) - 1}
	}
	rows := readPages(ctx, g, 1, "SELECT version, encoding, checksum, snapshot FROM snapshots "+
		"WHERE tenant_code = ? AND aggregate_id = ? AND version BETWEEN 1 AND ? ORDER BY version DESC",
		below, "read a snapshot of "+id.String())
	return seq.Map(rows, func(row snapshotRow) (es.Snapshot, error) {
		found := es.Snapshot{Version: row.Version}
		if payload, err := g.unpack(row); err == nil {
			found.Payload = payload
		} else {
			found.Broken = err.Error()
		}
		return found, nil
	})
}
