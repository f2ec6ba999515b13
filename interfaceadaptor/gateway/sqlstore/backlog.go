package sqlstore

import (
	"context"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
)

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
