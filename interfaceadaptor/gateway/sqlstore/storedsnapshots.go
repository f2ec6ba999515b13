package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"example.com/threads/interfaceadaptor/eventstore"
)

// StoredSnapshots implements [eventstore.Maintainer]. One snapshot is in memory at a time.
func (g *Gateway) StoredSnapshots(ctx context.Context, id eventstore.AggregateID) iter.Seq2[eventstore.StoredSnapshot, error] {
	return func(yield func(eventstore.StoredSnapshot, error) bool) {
		fail := func(err error) {
			yield(eventstore.StoredSnapshot{}, explain(ctx, g.dialect, err, "read the snapshots of %s", id))
		}
		var versions []uint64
		err := g.db.SelectContext(ctx, &versions,
			"SELECT version FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? ORDER BY version", id.Tenant, id.String())
		if err != nil {
			fail(err)
			return
		}
		for _, version := range versions {
			var row snapshotRow
			err := g.db.GetContext(ctx, &row, "SELECT version, encoding, checksum, snapshot FROM snapshots "+
				"WHERE tenant_code = ? AND aggregate_id = ? AND version = ?", id.Tenant, id.String(), version)
			if errors.Is(err, sql.ErrNoRows) {
				continue // a later one replaced it meanwhile
			}
			if err != nil {
				fail(err)
				return
			}
			stored := eventstore.StoredSnapshot{Version: version}
			if stored.Payload, err = g.packer.Unpack(row.packed()); err != nil {
				stored.Broken, stored.Payload = err.Error(), nil
			}
			if !yield(stored, nil) {
				return
			}
		}
	}
}

// DropSnapshot implements [eventstore.Maintainer].
func (g *Gateway) DropSnapshot(ctx context.Context, id eventstore.AggregateID, version uint64) error {
	return explain(ctx, g.dialect, g.writer.write(ctx, dropping{id, version}), "drop snapshot %d of %s", version, id)
}

// dropping is the change that DropSnapshot makes.
type dropping struct {
	id      eventstore.AggregateID
	version uint64
}

func (dropping) appends() bool { return false }

func (d dropping) apply(ctx context.Context, in session) error {
	_, err := in.ExecContext(ctx, "DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?",
		d.id.Tenant, d.id.String(), d.version)
	return err
}

func (dropping) refused(context.Context, session) error { return nil }
