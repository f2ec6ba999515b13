package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

type storedHeadRow struct {
	Type            string `db:"type"`
	Version         int64  `db:"version"`
	SnapshotVersion int64  `db:"snapshot_version"`
}

func (r storedHeadRow) head(id es.AggregateID) es.StoredHead {
	stored := es.StoredHead{Exists: true}
	if r.Type != id.Type {
		stored.Faults = append(stored.Faults, es.Fault{Field: "type", Expected: id.Type, Found: r.Type})
	}
	for _, number := range []struct {
		column string
		found  int64
		into   *uint64
	}{{"version", r.Version, &stored.Version}, {"snapshot_version", r.SnapshotVersion, &stored.SnapshotVersion}} {
		if number.found < 0 {
			stored.Faults = append(stored.Faults,
				es.Fault{Field: number.column, Expected: "a number that is not negative", Found: fmt.Sprint(number.found)})
			continue
		}
		*number.into = uint64(number.found)
	}
	return stored
}

// StoredHead implements [es.Maintainer].
func (g *Gateway) StoredHead(ctx context.Context, id es.AggregateID) (es.StoredHead, error) {
	row, found, err := readStoredHead(ctx, g.db, id)
	if err != nil || !found {
		return es.StoredHead{}, g.explain(ctx, err, "read the head of %s", id)
	}
	return row.head(id), nil
}

func readStoredHead(ctx context.Context, in session, id es.AggregateID) (row storedHeadRow, found bool, err error) {
	err = in.GetContext(ctx, &row, "SELECT type, version, snapshot_version FROM aggregates WHERE tenant_code = ? AND aggregate_id = ?",
		id.Tenant, id.String())
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// ReplaceHead implements [es.Maintainer].
func (g *Gateway) ReplaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	return g.explain(ctx, g.writer.write(ctx, replacing{g, id, found, head}), "replace the head of %s", id)
}

// replacing is the change that ReplaceHead makes.
type replacing struct {
	gateway *Gateway
	id      es.AggregateID
	found   es.StoredHead
	head    es.Head
}

func (replacing) appends() bool { return false }

func (r replacing) apply(ctx context.Context, in session) error {
	row, exists, err := readStoredHead(ctx, in, r.id)
	if err != nil {
		return err
	}
	var stored es.StoredHead
	if exists {
		stored = row.head(r.id)
	}
	if !stored.Equal(r.found) {
		return errRefused
	}
	if !exists {
		return r.insert(ctx, in)
	}
	moved, err := changed(ctx, in, "UPDATE aggregates SET type = ?, version = ?, snapshot_version = ? "+
		"WHERE tenant_code = ? AND aggregate_id = ? AND type = ? AND version = ? AND snapshot_version = ?",
		r.id.Type, r.head.Version, r.head.SnapshotVersion, r.id.Tenant, r.id.String(), row.Type, row.Version, row.SnapshotVersion)
	if err == nil && moved == 0 {
		return errRefused
	}
	return err
}

func (r replacing) insert(ctx context.Context, in session) error {
	_, err := in.ExecContext(ctx, "INSERT INTO aggregates (tenant_code, aggregate_id, type, version, snapshot_version, created_at) "+
		"VALUES (?, ?, ?, ?, ?, ?)",
		r.id.Tenant, r.id.String(), r.id.Type, r.head.Version, r.head.SnapshotVersion, r.gateway.settings.Clock().UnixMicro())
	if sqldialect.ClassOf(err) == sqldialect.Duplicate {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// refused returns nil if the head already has the new value: this change succeeded and its answer was lost.
func (r replacing) refused(ctx context.Context, in session) error {
	row, exists, err := readStoredHead(ctx, in, r.id)
	if err != nil || exists && row.head(r.id).Is(r.head) {
		return err
	}
	return fmt.Errorf("%w: somebody else has changed the head", es.ErrConflict)
}
