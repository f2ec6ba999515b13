package sqlstore

import (
	"context"
	"iter"

	"example.com/threads/es"
)

// StoredSnapshots implements [es.Maintainer]. One snapshot is in memory at a time.
func (g *Gateway) StoredSnapshots(ctx context.Context, id es.AggregateID) iter.Seq2[es.StoredSnapshot, error] {
	return func(yield func(es.StoredSnapshot, error) bool) {
		fail := func(err error) {
			yield(es.StoredSnapshot{}, g.explain(ctx, err, "read the snapshots of %s", id))
		}
		var versions []uint64
		err := g.db.SelectContext(ctx, &versions,
			"SELECT version FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? ORDER BY version", id.Tenant, id.String())
		if err != nil {
			fail(err)
			return
		}
		for _, version := range versions {
			row, found, err := readSnapshot(ctx, g.db, id, version)
			if err != nil {
				fail(err)
				return
			}
			if !found {
				continue // a later one replaced it meanwhile
			}
			stored := es.StoredSnapshot{Version: version}
			if stored.Payload, err = g.packer.Unpack(row.packed()); err != nil {
				stored.Broken, stored.Payload = err.Error(), nil
			}
			if !yield(stored, nil) {
				return
			}
		}
	}
}

// DropSnapshot implements [es.Maintainer].
func (g *Gateway) DropSnapshot(ctx context.Context, id es.AggregateID, version uint64) error {
	err := g.writer.write(ctx, statement("DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?",
		id.Tenant, id.String(), version))
	return g.explain(ctx, err, "drop snapshot %d of %s", version, id)
}
