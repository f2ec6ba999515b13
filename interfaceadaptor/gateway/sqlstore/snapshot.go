package sqlstore

import (
	"context"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/gateway/internal/packing"
	"example.com/threads/interfaceadaptor/sqldialect"
)

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

// packedSnapshot is a snapshot as it will be stored. It is made before a transaction begins, because compressing takes
// its time.
type packedSnapshot struct {
	version uint64
	values  []any
}

func (g *Gateway) pack(id eventstore.AggregateID, snapshot eventstore.Snapshot) packedSnapshot {
	packed := g.packer.Pack(snapshot.Payload)
	return packedSnapshot{snapshot.Version, []any{
		id.Tenant, id.String(), snapshot.Version, id.Type, packed.Encoding, packed.Checksum, packed.Bytes, g.settings.Clock().UnixMicro(),
	}}
}

func (p packedSnapshot) insert(ctx context.Context, in session, dialect sqldialect.Dialect) error {
	_, err := in.ExecContext(ctx, dialect.Insert("snapshots", snapshotColumns, 1), p.values...)
	return err
}
