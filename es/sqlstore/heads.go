package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"example.com/threads/es"
)

const headsPage = 500

type headRow struct {
	AggregateID     string `db:"aggregate_id"`
	Version         uint64 `db:"version"`
	SnapshotVersion int64  `db:"snapshot_version"`
}

// headOf converts a row. An invalid snapshot pointer is logged and read as 0, which only costs time; the next snapshot
// corrects it.
func (g *Gateway) headOf(ctx context.Context, id es.AggregateID, row headRow) es.Head {
	head := es.Head{Version: row.Version, SnapshotVersion: uint64(max(row.SnapshotVersion, 0))}
	if row.SnapshotVersion < 0 || head.SnapshotVersion > head.Version {
		head.SnapshotVersion = 0
		if g.said.First(id.Tenant.String() + " " + id.String()) {
			g.settings.Logger.WarnContext(ctx, "ignored a head's invalid pointer to its latest snapshot; the next snapshot will correct it",
				"tenant", id.Tenant, "aggregate", id.String(), "version", row.Version, "snapshot_version", row.SnapshotVersion)
		}
	}
	return head
}

// Head reads the aggregate's row.
func (g *Gateway) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	row, err := readHead(ctx, g.db, id)
	if err != nil {
		return es.Head{}, g.explain(ctx, err, "read the head of %s", id)
	}
	return g.headOf(ctx, id, row), nil
}

// Verify reads the event after the head's version, and then checks whether the head has moved on: both are written in
// one transaction, so a head that is read later must include the event.
func (g *Gateway) Verify(ctx context.Context, id es.AggregateID, head es.Head) error {
	_, found, err := readEventID(ctx, g.db, id, head.Version+1)
	if err == nil && found {
		err = contradicts(ctx, g.db, id, head.Version, head.Version+1)
	}
	return g.explain(ctx, err, "compare head and journal of %s", id)
}

// contradicts returns an error if the head is still at the version although the journal has a later event.
func contradicts(ctx context.Context, in session, id es.AggregateID, version, event uint64) error {
	row, err := readHead(ctx, in, id)
	if err == nil && row.Version == version {
		err = &es.InconsistentError{ID: id, Head: version, Event: event}
	}
	return err
}

func readHead(ctx context.Context, in session, id es.AggregateID) (headRow, error) {
	var row headRow
	err := in.GetContext(ctx, &row, "SELECT aggregate_id, version, snapshot_version FROM aggregates WHERE tenant_code = ? AND aggregate_id = ?",
		id.Tenant, id.String())
	if errors.Is(err, sql.ErrNoRows) {
		return headRow{}, nil
	}
	return row, err
}

// Heads reads the aggregates tenant by tenant, page by page.
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.AggregateHead, error] {
	return g.heads(ctx, aggregateType, 0)
}

// SnapshotsDue implements [es.DueFinder]. It reads every aggregate: use it at a program's start, not for
// commands.
func (g *Gateway) SnapshotsDue(ctx context.Context, aggregateType string, events uint64) iter.Seq2[es.AggregateHead, error] {
	return g.heads(ctx, aggregateType, events)
}

// heads yields the heads with at least events events since the latest snapshot.
func (g *Gateway) heads(ctx context.Context, aggregateType string, events uint64) iter.Seq2[es.AggregateHead, error] {
	return func(yield func(es.AggregateHead, error) bool) {
		fail := func(err error) {
			yield(es.AggregateHead{}, g.explain(ctx, err, "read the heads of type %s", aggregateType))
		}
		var tenant sql.Null[string]
		err := g.db.GetContext(ctx, &tenant, "SELECT MIN(tenant_code) FROM aggregates")
		for err == nil && tenant.Valid {
			for after, more := "", true; more; {
				var page []headRow
				err := g.db.SelectContext(ctx, &page, "SELECT aggregate_id, version, snapshot_version FROM aggregates "+
					"WHERE tenant_code = ? AND aggregate_id > ? AND type = ? AND (version - snapshot_version >= ? OR snapshot_version > version) ORDER BY aggregate_id LIMIT ?",
					tenant.V, after, aggregateType, events, headsPage)
				if err != nil {
					fail(err)
					return
				}
				for _, row := range page {
					id := aggregateID(es.Tenant(tenant.V), aggregateType, row.AggregateID)
					if !yield(es.AggregateHead{ID: id, Head: g.headOf(ctx, id, row)}, nil) {
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

// aggregateID is the inverse of [es.AggregateID.String].
func aggregateID(tenant es.Tenant, aggregateType, stored string) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: aggregateType, ID: strings.TrimPrefix(stored, aggregateType+"-")}
}
