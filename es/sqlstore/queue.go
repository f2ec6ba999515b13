package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// Queue reads the event store as a queue: the events of all aggregates and tenants by sequence number. Another process
// can follow it by remembering its last number.
type Queue struct {
	db    *sqlx.DB
	holes *holes // nil if numbers become visible in order
}

// NewQueue returns a queue over a database that has the event store's tables.
func NewQueue(db *sqlx.DB) (*Queue, error) {
	if _, err := sqldialect.Of(db); err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	queue := &Queue{db: db}
	if db.DriverName() == "mysql" {
		queue.holes = &holes{db: db, now: time.Now}
	}
	return queue, nil
}

const selectQueue = "SELECT sequence_number, tenant_code, aggregate_type, aggregate_id, version, event_content FROM events " +
	"WHERE sequence_number > ? ORDER BY sequence_number LIMIT ?"

type queueRow struct {
	SequenceNumber uint64    `db:"sequence_number"`
	TenantCode     es.Tenant `db:"tenant_code"`
	AggregateType  string    `db:"aggregate_type"`
	AggregateID    string    `db:"aggregate_id"`
	Version        uint64    `db:"version"`
	Content        []byte    `db:"event_content"`
}

func (r queueRow) queued() es.Queued {
	return es.Queued{
		Position: r.SequenceNumber, ID: aggregateID(r.TenantCode, r.AggregateType, r.AggregateID), SeqNr: r.Version, Payload: r.Content,
	}
}

// Read returns up to limit entries after a position, in order. No entry with a lower number than the last of them can
// appear later, so a reader that continues there misses nothing. An empty result may mean that the next entry is still
// being written. Only one goroutine at a time may read.
func (q *Queue) Read(ctx context.Context, after uint64, limit int) ([]es.Queued, error) {
	rows, err := q.rows(ctx, after, limit)
	if err == nil && q.holes != nil && q.holes.inFront(after, rows) {
		var settled bool
		settled, err = q.holes.settle(ctx, after)
		if err == nil && settled { // read again: entries that became visible since may come first
			rows, err = q.rows(ctx, after, limit)
		}
	}
	if err != nil {
		return nil, explain(ctx, err, "read the queue of events after %d", after)
	}
	if q.holes != nil {
		rows = q.holes.before(after, rows)
	}
	queued := make([]es.Queued, len(rows))
	for i, row := range rows {
		queued[i] = row.queued()
	}
	return queued, nil
}

func (q *Queue) rows(ctx context.Context, after uint64, limit int) (rows []queueRow, err error) {
	err = q.db.SelectContext(ctx, &rows, selectQueue, after, limit)
	return rows, err
}

// StoreID returns the unique id of this event store.
func (q *Queue) StoreID(ctx context.Context) (string, error) {
	var id string
	err := q.db.GetContext(ctx, &id, "SELECT store_id FROM event_queue WHERE id = 1")
	return id, explain(ctx, err, "read the id of the event store")
}

// End returns the position of the last visible entry; 0 if there is none.
func (q *Queue) End(ctx context.Context) (uint64, error) {
	end, err := lastNumber(ctx, q.db)
	return end, explain(ctx, err, "find the end of the queue of events")
}

func lastNumber(ctx context.Context, in session) (last uint64, err error) {
	err = in.GetContext(ctx, &last, "SELECT COALESCE(MAX(sequence_number), 0) FROM events")
	return last, err
}

// exactBacklog is the largest number of entries that is counted exactly.
const exactBacklog = 10_000

// Backlog describes the visible entries after a position. Records is exact up to 10,000. Above that it is the distance
// to the last number, which includes unused numbers.
func (q *Queue) Backlog(ctx context.Context, after uint64) (es.Backlog, error) {
	backlog, err := q.backlog(ctx, after)
	return backlog, explain(ctx, err, "count the events after %d", after)
}

func (q *Queue) backlog(ctx context.Context, after uint64) (es.Backlog, error) {
	var first []struct {
		SequenceNumber uint64 `db:"sequence_number"`
		OccurredAt     int64  `db:"occurred_at"`
	}
	err := q.db.SelectContext(ctx, &first, "SELECT sequence_number, occurred_at FROM events WHERE sequence_number > ? ORDER BY sequence_number LIMIT 1", after)
	if err != nil || len(first) == 0 {
		return es.Backlog{}, err
	}
	last, err := lastNumber(ctx, q.db)
	if err != nil {
		return es.Backlog{}, err
	}
	backlog := es.Backlog{Records: int(last - after), Oldest: time.UnixMicro(first[0].OccurredAt).UTC()}
	if q.holes != nil && backlog.Records <= exactBacklog {
		err = q.db.GetContext(ctx, &backlog.Records, "SELECT COUNT(*) FROM events WHERE sequence_number > ? AND sequence_number <= ?", after, last)
	}
	return backlog, err
}
