package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/sqldialect"
)

// Queue is the event store as a queue: the events of all aggregates and tenants by sequence number. A second process
// can follow it, and remembers no more than the number that it has come to.
type Queue struct {
	db      *sqlx.DB
	dialect sqldialect.Dialect
	holes   *holes // nil where numbers become visible in their order
}

// NewQueue makes a queue over a database that has the event store's tables.
func NewQueue(db *sqlx.DB) (*Queue, error) {
	dialect, err := sqldialect.Of(db)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	queue := &Queue{db: db, dialect: dialect}
	if db.DriverName() == "mysql" {
		queue.holes = &holes{db: db, now: time.Now}
	}
	return queue, nil
}

const selectQueue = "SELECT sequence_number, tenant_code, aggregate_type, aggregate_id, version, event_content FROM events " +
	"WHERE sequence_number > ? ORDER BY sequence_number LIMIT ?"

type queueRow struct {
	SequenceNumber uint64 `db:"sequence_number"`
	TenantCode     string `db:"tenant_code"`
	AggregateType  string `db:"aggregate_type"`
	AggregateID    string `db:"aggregate_id"`
	Version        uint64 `db:"version"`
	Content        []byte `db:"event_content"`
}

func (r queueRow) queued() eventstore.Queued {
	return eventstore.Queued{
		Position: r.SequenceNumber, ID: aggregateID(r.TenantCode, r.AggregateType, r.AggregateID), SeqNr: r.Version, Payload: r.Content,
	}
}

// Read returns up to limit entries behind a position, in order. Whoever goes on behind the last of them misses nothing:
// no entry with a lower number can become visible any more. That there are none may mean that the next one is still
// being written. One goroutine at a time may read.
func (q *Queue) Read(ctx context.Context, after uint64, limit int) ([]eventstore.Queued, error) {
	rows, err := q.rows(ctx, after, limit)
	if err == nil && q.holes != nil && q.holes.inFront(after, rows) {
		var settled bool
		settled, err = q.holes.settle(ctx, after)
		if err == nil && settled { // what has become visible meanwhile may be before what was read
			rows, err = q.rows(ctx, after, limit)
		}
	}
	if err != nil {
		return nil, explain(ctx, q.dialect, err, "read the queue of events behind %d", after)
	}
	if q.holes != nil {
		rows = q.holes.before(after, rows)
	}
	queued := make([]eventstore.Queued, len(rows))
	for i, row := range rows {
		queued[i] = row.queued()
	}
	return queued, nil
}

func (q *Queue) rows(ctx context.Context, after uint64, limit int) (rows []queueRow, err error) {
	err = q.db.SelectContext(ctx, &rows, selectQueue, after, limit)
	return rows, err
}

// StoreID tells this event store from any other.
func (q *Queue) StoreID(ctx context.Context) (string, error) {
	var id string
	err := q.db.GetContext(ctx, &id, "SELECT store_id FROM event_queue WHERE id = 1")
	return id, explain(ctx, q.dialect, err, "read the id of the event store")
}

// End is the position of the last entry that is visible; 0 when there is none.
func (q *Queue) End(ctx context.Context) (uint64, error) {
	end, err := lastNumber(ctx, q.db)
	return end, explain(ctx, q.dialect, err, "find the end of the queue of events")
}

func lastNumber(ctx context.Context, in session) (last uint64, err error) {
	err = in.GetContext(ctx, &last, "SELECT COALESCE(MAX(sequence_number), 0) FROM events")
	return last, err
}

// exactBacklog is up to how many entries are counted one by one.
const exactBacklog = 10_000

// Backlog tells what is visible behind a position. Records is exact up to 10,000; beyond, it is the distance to the
// last number, which counts numbers that were never used as well.
func (q *Queue) Backlog(ctx context.Context, after uint64) (eventstore.Backlog, error) {
	backlog, err := q.backlog(ctx, after)
	return backlog, explain(ctx, q.dialect, err, "count the events behind %d", after)
}

func (q *Queue) backlog(ctx context.Context, after uint64) (eventstore.Backlog, error) {
	var first []struct {
		SequenceNumber uint64 `db:"sequence_number"`
		OccurredAt     int64  `db:"occurred_at"`
	}
	err := q.db.SelectContext(ctx, &first, "SELECT sequence_number, occurred_at FROM events WHERE sequence_number > ? ORDER BY sequence_number LIMIT 1", after)
	if err != nil || len(first) == 0 {
		return eventstore.Backlog{}, err
	}
	last, err := lastNumber(ctx, q.db)
	if err != nil {
		return eventstore.Backlog{}, err
	}
	backlog := eventstore.Backlog{Records: int(last - after), Oldest: time.UnixMicro(first[0].OccurredAt).UTC()}
	if q.holes != nil && backlog.Records <= exactBacklog {
		err = q.db.GetContext(ctx, &backlog.Records, "SELECT COUNT(*) FROM events WHERE sequence_number > ? AND sequence_number <= ?", after, last)
	}
	return backlog, err
}
