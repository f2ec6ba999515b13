package sqlstore

import (
	"context"
	"iter"

	"example.com/threads/es"
)

type storedEntryRow struct {
	entryRow
	AggregateType string `db:"aggregate_type"`
}

// StoredEntries implements [es.Maintainer].
func (g *Gateway) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.StoredEntry, error] {
	return func(yield func(es.StoredEntry, error) bool) {
		for after, more := int64(-1), true; more; {
			var page []storedEntryRow
			err := g.db.SelectContext(ctx, &page, "SELECT aggregate_type, "+entryColumns+" FROM events "+
				"WHERE tenant_code = ? AND aggregate_id = ? AND version > ? ORDER BY version LIMIT ?", id.Tenant, id.String(), after, entriesPage)
			if err != nil {
				yield(es.StoredEntry{}, g.explain(ctx, err, "read the journal of %s", id))
				return
			}
			for _, row := range page {
				stored := es.StoredEntry{Entry: row.entry()}
				if row.AggregateType != id.Type {
					stored.Faults = []es.Fault{{Field: "aggregate_type", Expected: id.Type, Found: row.AggregateType}}
				}
				if !yield(stored, nil) {
					return
				}
				after = int64(row.Version)
			}
			more = len(page) == entriesPage
		}
	}
}
