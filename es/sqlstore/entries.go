package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
	"example.com/threads/es/internal/sqldialect"
)

const (
	entriesPage = 200 // in memory at once: 3 MB if all have the maximum size
	headsPage   = 500
)

// headRow is an aggregate's row. Its numbers may be anything.
type headRow struct {
	Tenant          es.Tenant `db:"tenant_code"`
	AggregateID     string    `db:"aggregate_id"`
	Type            string    `db:"type"`
	Version         int64     `db:"version"`
	SnapshotVersion int64     `db:"snapshot_version"`
}

const selectHead = "SELECT tenant_code, aggregate_id, type, version, snapshot_version FROM aggregates WHERE tenant_code = ? AND "

// Head implements [es.Reader].
func (g *Gateway) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	stored, err := g.StoredHead(ctx, id)
	if err != nil {
		return es.Head{}, err
	}
	return stored.Usable(id)
}

// Heads implements [es.Journal].
func (g *Gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return seq.Map(g.headRows(ctx, " AND type = ?", aggregateType), func(row headRow) (es.StoredAggregate, error) {
		id := aggregateID(row.Tenant, aggregateType, row.AggregateID)
		if id.Check() != nil {
			return es.StoredAggregate{}, seq.ErrSkip
		}
		head, _ := storedHeadOf(id, row).Usable(id) // 0 if it can't be read
		return es.StoredAggregate{ID: id, Head: head}, nil
	})
}

// headRows yields the aggregates' rows tenant by tenant, page by page.
func (g *Gateway) headRows(ctx context.Context, condition string, args ...any) iter.Seq2[headRow, error] {
	return func(yield func(headRow, error) bool) {
		var tenants []es.Tenant
		if err := g.DB.SelectContext(ctx, &tenants, "SELECT DISTINCT tenant_code FROM aggregates ORDER BY tenant_code"); err != nil {
			yield(headRow{}, g.explain(ctx, err, "list the aggregates"))
			return
		}
		var rows []iter.Seq2[headRow, error]
		for _, tenant := range tenants {
			rows = append(rows, readPages(ctx, g, headsPage, selectHead+"aggregate_id > ?"+condition+" ORDER BY aggregate_id",
				func(last headRow) []any { return append([]any{tenant, last.AggregateID}, args...) }, "list the aggregates"))
		}
		seq.Concat(rows...)(yield)
	}
}

// aggregateID is the inverse of [es.AggregateID.String].
func aggregateID(tenant es.Tenant, aggregateType, stored string) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: aggregateType, ID: strings.TrimPrefix(stored, aggregateType+"-")}
}

const selectEntries = "SELECT aggregate_type, version, event_id, command_id, correlation_id, user_id, event_type, event_content, occurred_at " +
	"FROM events WHERE tenant_code = ? AND aggregate_id = ? AND "

type entryRow struct {
	AggregateType string           `db:"aggregate_type"`
	Version       uint64           `db:"version"`
	EventID       string           `db:"event_id"`
	CommandID     sql.Null[string] `db:"command_id"`
	CorrelationID string           `db:"correlation_id"`
	UserID        string           `db:"user_id"`
	EventType     string           `db:"event_type"`
	Content       []byte           `db:"event_content"`
	OccurredAt    int64            `db:"occurred_at"`
}

func (r entryRow) entry() es.Entry {
	return es.Entry{
		SeqNr: r.Version, EventID: r.EventID, EventType: r.EventType, OccurredAt: time.UnixMicro(r.OccurredAt).UTC(),
		UserID: r.UserID, CommandID: r.CommandID.V, CorrelationID: r.CorrelationID, Payload: r.Content,
	}
}

// entryRows yields the aggregate's rows between two versions, page by page.
func (g *Gateway) entryRows(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[entryRow, error] {
	return readPages(ctx, g, entriesPage, selectEntries+"version > ? AND version <= ? ORDER BY version",
		func(last entryRow) []any { return []any{id.Tenant, id.String(), max(after, last.Version), upTo} }, "read the journal of "+id.String())
}

// Entries reads the table that Append writes, so it is never stale.
func (g *Gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		if after >= upTo {
			return
		}
		for row, err := range g.entryRows(ctx, id, after, upTo) {
			if err == nil && row.Version != after+1 {
				break
			}
			if !yield(row.entry(), err) || err != nil {
				return
			}
			after = row.Version
		}
		if after < upTo {
			yield(es.Entry{}, &es.InconsistentError{ID: id, Head: upTo, Event: after + 1})
		}
	}
}

// EntriesAt implements [es.Reader].
func (g *Gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for some := range slices.Chunk(seqNrs, entriesPage) {
			args := []any{id.Tenant, id.String()}
			for _, seqNr := range some {
				args = append(args, seqNr)
			}
			var page []entryRow
			err := g.DB.SelectContext(ctx, &page, selectEntries+"version IN ("+sqldialect.Marks(len(some))+") ORDER BY version", args...)
			if err != nil {
				yield(es.Entry{}, g.explain(ctx, err, "read the journal of %s", id))
				return
			}
			for i, seqNr := range some {
				if i == len(page) || page[i].Version != seqNr {
					yield(es.Entry{}, &es.InconsistentError{ID: id, Head: seqNrs[len(seqNrs)-1], Event: seqNr})
					return
				}
				if !yield(page[i].entry(), nil) {
					return
				}
			}
		}
	}
}

// searched is how many sequence numbers a search looks through at once.
const searched = 200_000

// Search returns up to limit entries before a position, the latest first, that equal like in each of its fields
// EventType, UserID and CorrelationID that is set, and occurred from since up to until unless these are zero. next is
// the position to go on before; 0: there are no more. With an id they are that aggregate's, by number; without one
// those of all aggregates, by sequence number.
func (g *Gateway) Search(
	ctx context.Context, id es.AggregateID, like es.Entry, since, until time.Time, before uint64, limit int,
) (found []es.Queued, next uint64, err error) {
	place, where, args := "sequence_number", "", []any{}
	only := func(condition string, is bool, values ...any) {
		if is {
			where, args = where+" AND "+condition, append(args, values...)
		}
	}
	before = cmp.Or(before, math.MaxInt64)
	if id != (es.AggregateID{}) {
		place = "version"
		only("tenant_code = ? AND aggregate_id = ?", true, id.Tenant, id.String())
	} else if before == math.MaxInt64 {
		last, err := lastNumber(ctx, g.DB)
		if err != nil {
			return nil, 0, g.explain(ctx, err, "search the journal")
		}
		before = last + 1
	}
	only("event_type = ?", like.EventType != "", like.EventType)
	only("user_id = ?", like.UserID != "", like.UserID)
	only("correlation_id = ?", like.CorrelationID != "", like.CorrelationID)
	only("occurred_at >= ?", !since.IsZero(), since.UnixMicro())
	only("occurred_at <= ?", !until.IsZero(), until.UnixMicro())
	from := uint64(1)
	if place != "version" && before > searched {
		from = before - searched
	}
	found, err = g.queued(ctx, math.MaxInt, place,
		place+" >= ? AND "+place+" < ?"+where+" ORDER BY "+place+" DESC LIMIT ?",
		append(append([]any{from, before}, args...), limit)...)
	if err != nil {
		return nil, 0, g.explain(ctx, err, "search the journal")
	}
	if next = from; len(found) == limit {
		next = found[limit-1].Position
	}
	if next == 1 {
		next = 0
	}
	return found, next, nil
}
