package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"example.com/threads/interfaceadaptor/eventstore"
)

const headsPage = 500

type headRow struct {
	AggregateID     string `db:"aggregate_id"`
	Version         uint64 `db:"version"`
	SnapshotVersion uint64 `db:"snapshot_version"`
}

func (r headRow) head() eventstore.Head {
	return eventstore.Head{Version: r.Version, SnapshotVersion: r.SnapshotVersion}
}

// Head reads the aggregate's row.
func (g *Gateway) Head(ctx context.Context, id eventstore.AggregateID) (eventstore.Head, error) {
	head, err := readHead(ctx, g.db, id)
	return head, explain(ctx, g.dialect, err, "read the head of %s", id)
}

func readHead(ctx context.Context, in session, id eventstore.AggregateID) (eventstore.Head, error) {
	var row headRow
	err := in.GetContext(ctx, &row, "SELECT aggregate_id, version, snapshot_version FROM aggregates WHERE tenant_code = ? AND aggregate_id = ?",
		id.Tenant, id.String())
	if errors.Is(err, sql.ErrNoRows) {
		return eventstore.Head{}, nil
	}
	return row.head(), err
}

// Heads walks through the tenants, and through each tenant's aggregates, page by page.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[eventstore.AggregateHead, error] {
	return g.heads(ctx, aggregateType, 0)
}

// SnapshotsDue implements [eventstore.DueFinder]. It looks at every aggregate: it is for a program's start, not for the path
// of a command.
func (g *Gateway) SnapshotsDue(ctx context.Context, aggregateType string, events uint64) iter.Seq2[eventstore.AggregateHead, error] {
	return g.heads(ctx, aggregateType, events)
}

// heads yields the heads with so many events since the latest snapshot, or more.
func (g *Gateway) heads(ctx context.Context, aggregateType string, events uint64) iter.Seq2[eventstore.AggregateHead, error] {
	return func(yield func(eventstore.AggregateHead, error) bool) {
		fail := func(err error) {
			yield(eventstore.AggregateHead{}, explain(ctx, g.dialect, err, "read the heads of type %s", aggregateType))
		}
		var tenant sql.Null[string]
		err := g.db.GetContext(ctx, &tenant, "SELECT MIN(tenant_code) FROM aggregates")
		for err == nil && tenant.Valid {
			for after, more := "", true; more; {
				var page []headRow
				err := g.db.SelectContext(ctx, &page, "SELECT aggregate_id, version, snapshot_version FROM aggregates "+
					"WHERE tenant_code = ? AND aggregate_id > ? AND type = ? AND version - snapshot_version >= ? ORDER BY aggregate_id LIMIT ?",
					tenant.V, after, aggregateType, events, headsPage)
				if err != nil {
					fail(err)
					return
				}
				for _, row := range page {
					id := aggregateID(tenant.V, aggregateType, row.AggregateID)
					if !yield(eventstore.AggregateHead{ID: id, Head: row.head()}, nil) {
						return
					}
					after = row.AggregateID
				}
				more = len(page) == headsPage
			}
			err = g.db.GetContext(ctx, &tenant, "SELECT MIN(tenant_code) FROM aggregates WHERE tenant_code > ?", tenant.V)
		}
		if err != nil {
			fail(err)
		}
	}
}

// aggregateID takes an id apart that [eventstore.AggregateID.String] put together.
func aggregateID(tenant, aggregateType, stored string) eventstore.AggregateID {
	return eventstore.AggregateID{Tenant: tenant, Type: aggregateType, ULID: strings.TrimPrefix(stored, aggregateType+"-")}
}
