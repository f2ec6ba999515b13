package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/es"
)

// A page of the journal ends with the event that reaches one of these limits. The more events a page has, the less
// often a rebuild reads and writes the rows of an aggregate that many of them belong to; it holds a few pages in
// memory.
const (
	pageEvents = 16000
	pageBytes  = 8 << 20 // of the events' content
)

// entriesAfter reads the events of all aggregates after a sequence number, up to a number and a size.
func (g *Gateway) entriesAfter(ctx context.Context, after uint64, limit int) (page []es.Queued, err error) {
	rows, err := g.db.QueryContext(ctx, "SELECT sequence_number, tenant_code, aggregate_type, aggregate_id, version, event_content FROM events "+
		"WHERE sequence_number > ? ORDER BY sequence_number LIMIT ?", after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for size := 0; size < pageBytes && rows.Next(); {
		var entry es.Queued
		var stored string
		// Not by the columns' names, which takes longer.
		if err := rows.Scan(&entry.Position, &entry.ID.Tenant, &entry.ID.Type, &stored, &entry.SeqNr, &entry.Payload); err != nil {
			return nil, err
		}
		entry.ID = aggregateID(entry.ID.Tenant, entry.ID.Type, stored)
		page, size = append(page, entry), size+len(entry.Payload)
	}
	return page, rows.Err()
}

// JournalParts implements [es.Journal]. There is one part, because events have consecutive numbers and are
// read in the order of writing.
func (g *Gateway) JournalParts() int { return 1 }

// ReadJournal implements [es.Journal].
func (g *Gateway) ReadJournal(ctx context.Context, part, _ int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		var number uint64
		if after != "" {
			var err error
			if number, err = strconv.ParseUint(after, 10, 63); err != nil {
				yield(es.JournalPage{}, fmt.Errorf("%q is no position in the journal: %w", after, err))
				return
			}
		}
		for part == 0 {
			entries, err := g.entriesAfter(ctx, number, pageEvents)
			if err != nil {
				yield(es.JournalPage{}, g.explain(ctx, err, "read the journal after %d", number))
			}
			if err != nil || len(entries) == 0 {
				return
			}
			number = entries[len(entries)-1].Position
			if !yield(es.JournalPage{Entries: entries, Next: strconv.FormatUint(number, 10)}, nil) {
				return
			}
		}
	}
}

const (
	// holePatience is how long to wait for a missing number before asking for the exclusive lock. Nearly all appear
	// within a millisecond or two.
	holePatience = 20 * time.Millisecond
	// holeRespite is the delay before retrying the exclusive lock after a timeout.
	holeRespite = 5 * time.Second

	mysqlLockWaitTimeout = 1205
)

// queue reads the event store as a queue: the events of all aggregates and tenants by sequence number. Another process
// can follow it by remembering its last number.
//
// It distinguishes numbers that were never used from numbers that will still appear. On MySQL a transaction gets its
// numbers before it commits. Others with higher numbers may commit first, and a transaction that fails leaves its
// numbers unused.
//
// Every transaction that adds events holds a shared lock on the queue's row from before it gets its numbers until it
// ends. So when an exclusive lock is granted, every assigned number belongs to a transaction that has ended: a number
// that is missing then, below the last visible number, will never appear. The exclusive lock is only requested when a
// hole does not close by itself; it is released at once, and waits at most a second for a writer that hangs.
type queue struct {
	gateway *Gateway

	settled uint64    // no number up to here can appear any more
	next    uint64    // the missing number
	since   time.Time // when it was first seen to be missing
}

// Read returns up to limit entries after a position, in order. No entry with a lower number than the last of them can
// appear later, so a reader that continues there misses nothing. An empty result may mean that the next entry is still
// being written. Only one goroutine at a time may read.
func (q *queue) Read(ctx context.Context, after uint64, limit int) ([]es.Queued, error) {
	found, err := q.gateway.entriesAfter(ctx, after, limit)
	if err == nil && len(found) > 0 && len(q.beforeHole(after, found)) == 0 {
		var settled bool
		settled, err = q.settle(ctx, after)
		if err == nil && settled { // read again: entries that became visible since may come first
			found, err = q.gateway.entriesAfter(ctx, after, limit)
		}
	}
	return q.beforeHole(after, found), q.gateway.explain(ctx, err, "read the queue of events after %d", after)
}

// beforeHole returns the entries in front of which no number can appear any more.
func (q *queue) beforeHole(after uint64, found []es.Queued) []es.Queued {
	last := max(after, q.settled)
	for i, entry := range found {
		if q.gateway.concurrent && entry.Position > last+1 {
			return found[:i]
		}
		last = max(last, entry.Position)
	}
	return found
}

// settle finds out which numbers will never appear, once a hole has existed long enough. Otherwise it returns false.
func (q *queue) settle(ctx context.Context, after uint64) (bool, error) {
	now := time.Now()
	if next := max(after, q.settled) + 1; q.next != next {
		q.next, q.since = next, now
	}
	if now.Sub(q.since) < holePatience {
		return false, nil
	}
	last, err := q.drain(ctx)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == mysqlLockWaitTimeout {
		q.since = now.Add(holeRespite)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	q.settled = max(q.settled, last)
	return true, nil
}

// drain waits until no transaction that adds events is in progress, and returns the last number that is visible then.
func (q *queue) drain(ctx context.Context) (last uint64, err error) {
	conn, err := q.gateway.db.Connx(ctx)
	if err != nil {
		return 0, err
	}
	defer discard(conn) // with its setting
	// Writers queue behind a waiting exclusive lock.
	if _, err := conn.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 1"); err != nil {
		return 0, err
	}
	// Each statement sees what was committed before it began; the second begins after the lock was granted.
	tx, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to commit
	var id int
	if err := tx.GetContext(ctx, &id, "SELECT id FROM event_queue WHERE id = 1 FOR UPDATE"); err != nil {
		return 0, err
	}
	return lastNumber(ctx, tx)
}

// StoreID returns the unique id of this event store.
func (q *queue) StoreID(ctx context.Context) (string, error) {
	var id string
	err := q.gateway.db.GetContext(ctx, &id, "SELECT store_id FROM event_queue WHERE id = 1")
	return id, q.gateway.explain(ctx, err, "read the id of the event store")
}

// End returns the position of the last visible entry; 0 if there is none.
func (q *queue) End(ctx context.Context) (uint64, error) {
	end, err := lastNumber(ctx, q.gateway.db)
	return end, q.gateway.explain(ctx, err, "find the end of the queue of events")
}

func lastNumber(ctx context.Context, in session) (last uint64, err error) {
	err = in.GetContext(ctx, &last, "SELECT COALESCE(MAX(sequence_number), 0) FROM events")
	return last, err
}

// exactBacklog is the largest number of entries that is counted exactly.
const exactBacklog = 10_000

// Backlog returns the number of visible entries after a position, and when the first of them occurred. The number is
// exact up to 10,000. Above that it is the distance to the last number, which includes unused numbers.
func (q *queue) Backlog(ctx context.Context, after uint64) (records int, oldest time.Time, err error) {
	occurredAt, found, err := readRow[int64](ctx, q.gateway.db, "SELECT occurred_at FROM events WHERE sequence_number > ? ORDER BY sequence_number LIMIT 1", after)
	if err == nil && found {
		var last uint64
		last, err = lastNumber(ctx, q.gateway.db)
		records, oldest = int(last-after), time.UnixMicro(occurredAt).UTC()
	}
	if err == nil && q.gateway.concurrent && found && records <= exactBacklog {
		err = q.gateway.db.GetContext(ctx, &records, "SELECT COUNT(*) FROM events WHERE sequence_number > ?", after)
	}
	return records, oldest, q.gateway.explain(ctx, err, "count the events after %d", after)
}
