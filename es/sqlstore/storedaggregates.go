package sqlstore

import (
	"context"
	"iter"

	"example.com/threads/es/eventstore"
)

var _ eventstore.Maintainer = (*Gateway)(nil)

const storedPage = 500

type storedAggregateRow struct {
	TenantCode  string `db:"tenant_code"`
	AggregateID string `db:"aggregate_id"`
}

// selectStored selects one page of aggregates after a given one: those with a head, and those with entries only.
var selectStored = []string{
	"SELECT tenant_code, aggregate_id FROM aggregates " +
		"WHERE tenant_code > ? OR (tenant_code = ? AND aggregate_id > ?) ORDER BY tenant_code, aggregate_id LIMIT ?",
	"SELECT DISTINCT e.tenant_code, e.aggregate_id FROM events e " +
		"LEFT JOIN aggregates a ON a.tenant_code = e.tenant_code AND a.aggregate_id = e.aggregate_id " +
		"WHERE a.aggregate_id IS NULL AND (e.tenant_code > ? OR (e.tenant_code = ? AND e.aggregate_id > ?)) " +
		"ORDER BY e.tenant_code, e.aggregate_id LIMIT ?",
}

// StoredAggregates implements [eventstore.Maintainer].
func (g *Gateway) StoredAggregates(ctx context.Context) iter.Seq2[eventstore.StoredAggregate, error] {
	return func(yield func(eventstore.StoredAggregate, error) bool) {
		for _, statement := range selectStored {
			var last storedAggregateRow
			for more := true; more; {
				var page []storedAggregateRow
				err := g.db.SelectContext(ctx, &page, statement, last.TenantCode, last.TenantCode, last.AggregateID, storedPage)
				if err != nil {
					yield(eventstore.StoredAggregate{}, g.explain(ctx, err, "list the aggregates"))
					return
				}
				for _, row := range page {
					if !yield(row.aggregate(), nil) {
						return
					}
					last = row
				}
				more = len(page) == storedPage
			}
		}
	}
}

func (r storedAggregateRow) aggregate() eventstore.StoredAggregate {
	id, err := eventstore.ParseAggregateID(r.TenantCode, r.AggregateID)
	if err != nil {
		return eventstore.StoredAggregate{
			ID:     eventstore.AggregateID{Tenant: r.TenantCode, ULID: r.AggregateID},
			Faults: []eventstore.Fault{{Field: "aggregate_id", Expected: "<type>-<ulid>", Found: r.AggregateID}},
		}
	}
	return eventstore.StoredAggregate{ID: id}
}
