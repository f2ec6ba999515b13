package sqlstore

import (
	"context"
	"fmt"
	"iter"
	"math"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
	"example.com/threads/es/internal/sqldialect"
)

// selectHeadless selects the aggregates that have entries only, after another one.
const selectHeadless = "SELECT DISTINCT e.tenant_code, e.aggregate_id FROM events e " +
	"LEFT JOIN aggregates a ON a.tenant_code = e.tenant_code AND a.aggregate_id = e.aggregate_id " +
	"WHERE a.aggregate_id IS NULL AND (e.tenant_code, e.aggregate_id) > (?, ?) ORDER BY e.tenant_code, e.aggregate_id"

// StoredAggregates implements [es.Maintainer].
func (g *Gateway) StoredAggregates(ctx context.Context) iter.Seq2[es.StoredAggregate, error] {
	headless := readPages(ctx, g, headsPage, selectHeadless,
		func(last headRow) []any { return []any{last.Tenant, last.AggregateID} }, "list the aggregates without a head")
	return seq.Map(seq.Concat(g.headRows(ctx, ""), headless), func(row headRow) (es.StoredAggregate, error) {
		if id, err := es.ParseAggregateID(row.Tenant, row.AggregateID); err == nil {
			return es.StoredAggregate{ID: id}, nil
		}
		strange := es.StoredAggregate{ID: es.AggregateID{Tenant: row.Tenant, ID: row.AggregateID}}
		strange.Faults = []es.Fault{{Field: "aggregate_id", Expected: "<type>-<ulid>", Found: row.AggregateID}}
		return strange, nil
	})
}

// StoredHead implements [es.Maintainer].
func (g *Gateway) StoredHead(ctx context.Context, id es.AggregateID) (es.StoredHead, error) {
	stored, err := g.storedHead(ctx, g.DB, id, "")
	return stored, g.explain(ctx, err, "read the head of %s", id)
}

// storedHead reads the aggregate's row; lock is the end of the statement.
func (g *Gateway) storedHead(ctx context.Context, in session, id es.AggregateID, lock string) (es.StoredHead, error) {
	row, found, err := readRow[headRow](ctx, in, selectHead+"aggregate_id = ?"+lock, id.Tenant, id.String())
	if err != nil || !found {
		return es.StoredHead{}, err
	}
	return storedHeadOf(id, row), nil
}

func storedHeadOf(id es.AggregateID, row headRow) es.StoredHead {
	stored := es.StoredHead{Exists: true}
	fault := func(field, expected, found string) {
		stored.Faults = append(stored.Faults, es.Fault{Field: field, Expected: expected, Found: found})
	}
	number := func(field string, value int64) uint64 {
		if value < 0 {
			fault(field, "a number that is not negative", fmt.Sprint(value))
		}
		return uint64(max(value, 0))
	}
	if row.Type != id.Type {
		fault("type", id.Type, row.Type)
	}
	stored.Head = es.Head{Version: number("version", row.Version), SnapshotVersion: number("snapshot_version", row.SnapshotVersion)}
	return stored
}

// StoredEntries implements [es.Maintainer].
func (g *Gateway) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.Entry, error] {
	return seq.Map(g.entryRows(ctx, id, 0, math.MaxInt64), func(row entryRow) (es.Entry, error) {
		stored := row.entry()
		if row.AggregateType != id.Type {
			stored.Faults = []es.Fault{{Field: "aggregate_type", Expected: id.Type, Found: row.AggregateType}}
		}
		return stored, nil
	})
}

// StoredSnapshots implements [es.Maintainer].
func (g *Gateway) StoredSnapshots(ctx context.Context, id es.AggregateID) iter.Seq2[es.Snapshot, error] {
	return g.Snapshots(ctx, id, es.Head{Version: math.MaxInt64})
}

// ReplaceHead implements [es.Maintainer].
func (g *Gateway) ReplaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	var replace change
	replace = func(ctx context.Context, in session) error {
		stored, err := g.storedHead(ctx, in, id, g.dialect.ForUpdate())
		switch {
		case err != nil || stored.Is(head):
			return err
		case !stored.Equal(found):
			return fmt.Errorf("%w: somebody else has changed the head", es.ErrConflict)
		case !stored.Exists:
			if err = g.insertHead(ctx, in, id, head); sqldialect.ClassOf(err) == sqldialect.Duplicate {
				return replace(ctx, in) // somebody else has inserted it
			}
			return err
		}
		_, err = in.ExecContext(ctx, "UPDATE aggregates SET type = ?, version = ?, snapshot_version = ? WHERE tenant_code = ? AND aggregate_id = ?",
			id.Type, head.Version, head.SnapshotVersion, id.Tenant, id.String())
		return err
	}
	return g.explain(ctx, g.writer.write(ctx, replace), "replace the head of %s", id)
}

// DropSnapshot implements [es.Maintainer].
func (g *Gateway) DropSnapshot(ctx context.Context, id es.AggregateID, version uint64) error {
	err := g.execute(ctx, "DELETE FROM snapshots WHERE tenant_code = ? AND aggregate_id = ? AND version = ?", id.Tenant, id.String(), version)
	return g.explain(ctx, err, "drop snapshot %d of %s", version, id)
}

// RemoveEntries implements [es.Maintainer], some at a time: other writers wait meanwhile.
func (g *Gateway) RemoveEntries(ctx context.Context, id es.AggregateID, first, last uint64) error {
	head, err := g.StoredHead(ctx, id)
	if err == nil {
		err = head.CheckRemoval(last)
	}
	for ; err == nil && first <= last; first += entriesPage {
		err = g.execute(ctx, "DELETE FROM events WHERE tenant_code = ? AND aggregate_id = ? AND version BETWEEN ? AND ?",
			id.Tenant, id.String(), first, min(last, first+entriesPage-1))
	}
	return g.explain(ctx, err, "remove entries of %s", id)
}
