package sqlstore

import (
	"context"
	"iter"

	"example.com/threads/es"
)

const storedPage = 500

type storedAggregateRow struct {
	TenantCode  es.Tenant `db:"tenant_code"`
	AggregateID string    `db:"aggregate_id"`
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

// StoredAggregates implements [es.Maintainer].
func (g *Gateway) StoredAggregates(ctx context.Context) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for _, statement := range selectStored {
			var last storedAggregateRow
			for more := true; more; {
				var page []storedAggregateRow
				err := g.db.SelectContext(ctx, &page, statement, last.TenantCode, last.TenantCode, last.AggregateID, storedPage)
				if err != nil {
					yield(es.StoredAggregate{}, g.explain(ctx, err, "list the aggregates"))
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

func (r storedAggregateRow) aggregate() es.StoredAggregate {
	id, err := es.ParseAggregateID(r.TenantCode, r.AggregateID)
	if err != nil {
		return es.StoredAggregate{
			ID:     es.AggregateID{Tenant: r.TenantCode, ID: r.AggregateID},
			Faults: []es.Fault{{Field: "aggregate_id", Expected: "<type>-<ulid>", Found: r.AggregateID}},
		}
	}
	return es.StoredAggregate{ID: id}
}
