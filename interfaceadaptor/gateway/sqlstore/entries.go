package sqlstore

import (
	"context"
	"iter"

	"example.com/threads/interfaceadaptor/eventstore"
)

// entriesPage is how many entries are in memory at once: 3 MB when each is as long as may be.
const entriesPage = 200

const selectEntries = "SELECT " + entryColumns + " FROM events " +
	"WHERE tenant_code = ? AND aggregate_id = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?"

// Entries reads the table that Append writes, in which nothing lags.
func (g *Gateway) Entries(ctx context.Context, id eventstore.AggregateID, after, upTo uint64) iter.Seq2[eventstore.Entry, error] {
	return func(yield func(eventstore.Entry, error) bool) {
		for after < upTo {
			var page []entryRow
			err := g.db.SelectContext(ctx, &page, selectEntries, id.Tenant, id.String(), after, upTo, entriesPage)
			if err != nil {
				yield(eventstore.Entry{}, explain(ctx, g.dialect, err, "read the journal of %s", id))
				return
			}
			for _, row := range page {
				if row.Version != after+1 {
					break
				}
				if !yield(row.entry(), nil) {
					return
				}
				after = row.Version
			}
			if after < upTo && (len(page) == 0 || page[len(page)-1].Version != after) {
				yield(eventstore.Entry{}, &eventstore.InconsistentError{ID: id, Head: upTo, Event: after + 1})
				return
			}
		}
	}
}
