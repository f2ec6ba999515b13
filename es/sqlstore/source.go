package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
)

// SourceSettings configure a [Source]. Zero fields take their defaults, which are in parentheses.
type SourceSettings struct {
	// PollMin is the wait between two polls while events arrive (5 ms); PollMax is the longest wait without events (100
	// ms). A commit of the same [Gateway] ends a wait.
	PollMin, PollMax time.Duration
	// Gather is the least time from a poll that finds events to the next one (2 ms), so that events in quick succession
	// share a transaction. There is no wait after a full page.
	Gather time.Duration
	// PageSize is the number of events that are read and projected at once (500).
	PageSize int
}

// Source follows the queue of an event store and has its events projected page by page. After a crash events may come
// again, but none is lost. Two sources for a projection are safe but do everything twice.
type Source struct {
	queue       *queue
	projector   projection.Sink
	checkpoints projection.Checkpoints
	log         *slog.Logger
	settings    SourceSettings
	woken       chan struct{} // holds a token from wake until the next poll

	polls, empty, failures, records, skipped atomic.Int64

	mu       sync.Mutex
	name     string    // identifies the event store; empty until the position is known
	position uint64    // everything up to it is projected
	mark     string    // of the event at the position; see [markOf]
	moved    time.Time // time of the last successful read or batch
	trouble  error     // the last failure since then
}

// NewSource returns a source of the store's events. Nothing is called before [Source.Run]. log: nil is slog.Default().
func (g *Gateway) NewSource(to projection.Sink, checkpoints projection.Checkpoints, log *slog.Logger, s SourceSettings) *Source {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.Gather = cmp.Or(s.Gather, 2*time.Millisecond)
	s.PageSize = cmp.Or(s.PageSize, 500)
	return &Source{
		queue: &queue{gateway: g}, projector: to, checkpoints: checkpoints, log: cmp.Or(log, slog.Default()), settings: s, woken: make(chan struct{}, 1), moved: time.Now(),
	}
}

// wake makes the source poll at once, or SourceSettings.Gather after it last found events. It never blocks.
func (s *Source) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // a poll is already requested
	}
}

// Run follows the queue until ctx ends and the batch in progress is projected, or a grace period is over. It waits for
// a queue or read model that does not answer, and logs that. Call it once.
func (s *Source) Run(ctx context.Context) {
	if s.locate(ctx) != nil {
		return
	}
	s.log.InfoContext(ctx, "following the queue of events", "queue", s.name, "position", s.position)
	s.queue.gateway.following.Store(s, nil)
	defer s.queue.gateway.following.Delete(s)
	pace := polling.Pace{Min: s.settings.PollMin, Max: s.settings.PollMax}
	for {
		var page []es.Queued
		begun, gather, lost := time.Now(), time.Duration(0), false
		err := s.retry(ctx, "reading the queue of events failed; will retry", func(ctx context.Context) (err error) {
			if page, err = s.queue.Read(ctx, s.position, s.mark, s.settings.PageSize); errors.Is(err, errLost) {
				lost, err = true, nil
			}
			return err
		})
		if lost {
			err = s.locate(ctx)
		}
		if err != nil {
			return
		}
		s.polls.Add(1)
		switch {
		case len(page) == 0:
			s.empty.Add(1)
		case s.project(ctx, page) != nil:
			return
		default:
			gather = s.settings.Gather - time.Since(begun)
		}
		if !s.rest(ctx, gather, pace.Next(len(page), s.settings.PageSize, time.Now())) {
			return
		}
	}
}

// locate finds the stored position, or the beginning if there is none or if the queue cannot have reached it.
func (s *Source) locate(ctx context.Context) error {
	return s.retry(ctx, "reading the queue of events or its checkpoint failed; will retry", func(ctx context.Context) error {
		id, err := s.queue.StoreID(ctx)
		if err != nil {
			return err
		}
		name, mark, at := "events:"+id, "", uint64(0)
		stored, err := s.checkpoints.Checkpoints(ctx, name)
		if err != nil {
			return err
		}
		for _, checkpoint := range stored { // at most one
			mark = checkpoint.Position
			if at, err = s.queue.Find(ctx, mark); err != nil {
				return err
			}
			if at == 0 {
				s.log.ErrorContext(ctx, "this event store does not have the last event that was projected: all are read again; "+
					"if a backup was restored, and it is not in an archive, rows of lost events remain: rebuild the rows", "position", mark)
				mark = ""
			}
		}
		s.change(func() { s.name, s.position, s.mark = name, at, mark })
		return s.projector.Begin(ctx, at == 0)
	})
}

// project has a page projected. Events without a valid aggregate are skipped and counted.
func (s *Source) project(ctx context.Context, page []es.Queued) error {
	last := page[len(page)-1]
	mark := markOf(last)
	batch := projection.Batch{Checkpoint: projection.Checkpoint{Source: s.name, Shard: "queue", Position: mark}}
	for _, queued := range page {
		if err := queued.ID.Check(); err != nil {
			s.skipped.Add(1)
			s.log.WarnContext(ctx, "skipped an event of the queue that names no valid aggregate", "sequence_number", queued.Position, "reason", err)
			continue
		}
		batch.Records = append(batch.Records, projection.Record{Key: queued.ID, SeqNr: queued.SeqNr, Payload: queued.Payload})
	}
	err := s.retry(ctx, "projecting a batch failed; will retry", func(ctx context.Context) error {
		return polling.HandOver(ctx, s.projector, batch)
	})
	if err == nil {
		s.records.Add(int64(len(batch.Records)))
		s.change(func() { s.position, s.mark = last.Position, mark })
	}
	return err
}

// rest waits until wait has passed or, after gather, until wake is called. It returns whether ctx is still active.
func (s *Source) rest(ctx context.Context, gather, wait time.Duration) bool {
	gather = min(max(gather, 0), wait)
	if !polling.Pause(ctx, gather) {
		return false
	}
	select {
	case <-time.After(wait - gather):
	case <-s.woken:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// retry calls do until it succeeds, and tells each failure. It only fails when ctx ends.
func (s *Source) retry(ctx context.Context, text string, do func(context.Context) error) error {
	err := polling.Retry(ctx, func(err error) {
		s.failures.Add(1)
		s.change(func() { s.trouble = err })
		s.log.WarnContext(ctx, text, "error", err)
	}, do)
	if err == nil {
		s.change(func() { s.moved, s.trouble = time.Now(), nil })
	}
	return err
}

// change changes what [Source.Lag] and [Source.Health] read.
func (s *Source) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Lag returns how far the projection is behind the event store or, if that does not answer, the last success.
func (s *Source) Lag(ctx context.Context) projection.Lag {
	s.mu.Lock()
	position, located, unknown := s.position, s.name != "", projection.Lag{Behind: time.Since(s.moved), AtLeast: true}
	s.mu.Unlock()
	if !located {
		return unknown
	}
	records, oldest, err := s.queue.Backlog(ctx, position)
	switch {
	case err != nil:
		return unknown
	case records == 0:
		return projection.Lag{}
	}
	return projection.Lag{Behind: max(0, time.Since(oldest)), Records: records}
}

// Health returns what is stuck, and why, if the source has not read the queue or projected a batch for ten seconds and
// PollMax.
func (s *Source) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := cmp.Or(s.trouble, polling.ErrSilent)
	if s.name == "" {
		return fmt.Errorf("the event store or the read model has not been reached yet: %w", reason)
	}
	if idle := time.Since(s.moved); idle > polling.StallAfter+s.settings.PollMax {
		return fmt.Errorf("no progress in the queue of events after position %d for %s: %w", s.position, idle.Round(time.Second), reason)
	}
	return nil
}

// Measure registers the running totals as metrics.
func (s *Source) Measure(registry prometheus.Registerer) {
	polling.Total(registry, "queue_polls_total", "Successful polls of the queue.", &s.polls)
	polling.Total(registry, "queue_polls_empty_total", "Polls without events.", &s.empty)
	polling.Total(registry, "queue_failures_total", "Failed polls and batches; each is retried.", &s.failures)
	polling.Total(registry, "queue_records_total", "Events handed to the projection.", &s.records)
	polling.Total(registry, "queue_entries_skipped_total", "Entries without a valid aggregate.", &s.skipped)
}

// A page of the journal ends with the event that reaches one of these limits. In larger pages, a rebuild writes the
// rows of a busy aggregate less often; it holds a few in memory.
const (
	pageEvents = 16000
	pageBytes  = 8 << 20 // of the events' content
)

// entriesAfter reads the events of all aggregates after a sequence number, up to a number and a size.
func (g *Gateway) entriesAfter(ctx context.Context, after uint64, limit int) ([]es.Queued, error) {
	return g.queued(ctx, pageBytes, "sequence_number",
		"sequence_number > ? ORDER BY sequence_number LIMIT ?", after, limit)
}

// queued reads the entries that the rest of a query selects, up to a size. at is the column of their positions.
func (g *Gateway) queued(ctx context.Context, most int, at, rest string, args ...any) (page []es.Queued, err error) {
	rows, err := g.DB.QueryContext(ctx,
		"SELECT "+at+", tenant_code, aggregate_type, aggregate_id, version, event_content FROM events WHERE "+rest, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	// Two at least: [queue.Read] needs one after its position.
	for size := 0; (size < most || len(page) < 2) && rows.Next(); {
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

// JournalParts implements [es.Journal]. There is one part: events are read in the order of their numbers.
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
	// holePatience is the wait for a missing number before asking for the lock. Nearly all appear within 2 ms.
	holePatience = 20 * time.Millisecond
	// holeRespite is the time from one request for the exclusive lock, which timed out, to the next.
	holeRespite = 5 * time.Second

	mysqlLockWaitTimeout = 1205
)

// queue reads the events of all aggregates and tenants by sequence number.
//
// It distinguishes numbers that were never used from numbers that will still appear: on MySQL a transaction gets its
// numbers before it commits, others with higher numbers may commit first, and one that fails leaves its numbers unused.
// Every transaction that adds events holds a shared lock on the queue's row from before it gets its numbers until it
// ends. So when an exclusive lock is granted, a number that is missing below the last visible one will never appear.
// That lock is only requested when a hole does not close by itself; it waits at most a second for a writer that hangs.
type queue struct {
	gateway *Gateway

	settled uint64    // no number up to here can appear any more
	next    uint64    // the missing number
	since   time.Time // when it was first seen to be missing
}

// errLost tells that the queue does not have the event at a position, or has another one: a backup was restored, or a
// server answers that lacks the last commits and uses their numbers again.
var errLost = errors.New("the queue does not have this event")

// Read returns up to limit entries after a position, in order. No entry with a number below the last of them can appear
// later. If there is none, the next one may be being written. mark is of the event at the position; it fails with
// [errLost] if that is not there. Without a mark nothing is checked. Only one goroutine at a time may read.
func (q *queue) Read(ctx context.Context, after uint64, mark string, limit int) ([]es.Queued, error) {
	found, err := q.after(ctx, after, mark, limit)
	if n := len(found); n == 0 || n < limit && found[n-1].Position < q.settled {
		q.settled, q.next = 0, 0 // perhaps numbers of another server, which lacks some
	}
	if err == nil && len(found) > 0 && len(q.beforeHole(after, found)) == 0 {
		settled := q.settled
		if err = q.settle(ctx, after); q.settled > settled { // entries that became visible since may come first
			found, err = q.after(ctx, after, mark, limit)
		}
	}
	return q.beforeHole(after, found), q.gateway.explain(ctx, err, "read the queue of events after %d", after)
}

func (q *queue) after(ctx context.Context, after uint64, mark string, limit int) ([]es.Queued, error) {
	if mark == "" {
		return q.gateway.entriesAfter(ctx, after, limit)
	}
	found, err := q.gateway.entriesAfter(ctx, after-1, limit+1)
	if err != nil || len(found) == 0 || markOf(found[0]) != mark {
		return nil, cmp.Or(err, errLost)
	}
	return found[1:], nil
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

// settle finds out which numbers will never appear, once a hole has existed long enough.
func (q *queue) settle(ctx context.Context, after uint64) error {
	now := time.Now()
	if next := max(after, q.settled) + 1; q.next != next {
		q.next, q.since = next, now
	}
	if now.Sub(q.since) < holePatience {
		return nil
	}
	last, err := q.drain(ctx)
	if refused, is := errors.AsType[*mysql.MySQLError](err); is && refused.Number == mysqlLockWaitTimeout {
		q.since = now.Add(holeRespite)
		return nil
	}
	if err == nil {
		q.settled = max(q.settled, last)
	}
	return err
}

// drain waits until no transaction that adds events is in progress, and returns the last number that is visible then.
func (q *queue) drain(ctx context.Context) (last uint64, err error) {
	conn, err := q.gateway.DB.Connx(ctx)
	if err != nil {
		return 0, err
	}
	defer sqldialect.Discard(conn.Conn) // with its setting
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
	err := q.gateway.DB.GetContext(ctx, &id, "SELECT store_id FROM event_queue WHERE id = 1")
	return id, q.gateway.explain(ctx, err, "read the id of the event store")
}

// markOf returns an entry's position and digest for a checkpoint: after a restore, another event may get the number.
func markOf(entry es.Queued) string {
	digest := sha256.Sum256(entry.Payload)
	return fmt.Sprintf("%d %x", entry.Position, digest[:8])
}

// Find returns the position of a mark; 0 if the queue has another event there, or none.
func (q *queue) Find(ctx context.Context, mark string) (position uint64, err error) {
	if _, err := fmt.Sscan(mark, &position); err != nil || position == 0 {
		return 0, nil //nolint:nilerr // it is no mark
	}
	if _, err = q.after(ctx, position, mark, 0); errors.Is(err, errLost) {
		return 0, nil
	}
	return position, q.gateway.explain(ctx, err, "look for the event at %s in the queue", mark)
}

func lastNumber(ctx context.Context, in session) (last uint64, err error) {
	err = in.GetContext(ctx, &last, "SELECT COALESCE(MAX(sequence_number), 0) FROM events")
	return last, err
}

// Backlog returns how many entries are after a position, or above 10,000 numbers, and when the first occurred.
func (q *queue) Backlog(ctx context.Context, after uint64) (records int, oldest time.Time, err error) {
	occurredAt, found, err := readRow[int64](ctx, q.gateway.DB, "SELECT occurred_at FROM events WHERE sequence_number > ? ORDER BY sequence_number LIMIT 1", after)
	if err == nil && found {
		var last uint64
		last, err = lastNumber(ctx, q.gateway.DB)
		records, oldest = int(last-after), time.UnixMicro(occurredAt).UTC()
	}
	if err == nil && q.gateway.concurrent && found && records <= 10_000 {
		err = q.gateway.DB.GetContext(ctx, &records, "SELECT COUNT(*) FROM events WHERE sequence_number > ?", after)
	}
	return records, oldest, q.gateway.explain(ctx, err, "count the events after %d", after)
}
