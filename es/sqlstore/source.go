package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// SourceSettings configure a [Source]. Zero fields take their defaults, which are in parentheses.
type SourceSettings struct {
	// PollMin is the wait between two polls while events arrive (5 ms); PollMax is the longest wait without events (100
	// ms). [Source.Wake] ends a wait.
	PollMin, PollMax time.Duration
	// Gather is the minimum time from a poll that finds events to the next poll, even if Wake is called (2 ms), so that
	// events in quick succession share a transaction. A single event is not delayed, and there is no wait after a full
	// page.
	Gather time.Duration
	// PageSize is the number of events that are read and projected at once (500).
	PageSize int
}

// Source follows the queue of an event store and hands its events to a projector. It reads the events after its
// position page by page, has them projected, and continues when rows and position are stored in one transaction. So
// after a crash events may come again, but none is lost. At most one process should run a source for a projection: two
// are safe but do everything twice.
type Source struct {
	queue       *queue
	projector   projection.Sink
	checkpoints projection.Checkpoints
	log         *slog.Logger
	settings    SourceSettings
	wake        chan struct{} // holds a token from Wake until the next poll
	looked      time.Time     // when it was last checked that the queue reaches the position

	polls, empty, failures, records, skipped atomic.Int64

	mu       sync.Mutex
	name     string    // identifies the event store; another event store starts from the beginning
	position uint64    // everything up to it is projected
	moved    time.Time // time of the last successful read or batch
	located  bool      // the position is known
	trouble  error     // the last failure since then
}

// NewSource returns a source of the store's events. Nothing is called before [Source.Run].
func (g *Gateway) NewSource(to projection.Sink, checkpoints projection.Checkpoints, log *slog.Logger, s SourceSettings) *Source {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.Gather = cmp.Or(s.Gather, 2*time.Millisecond)
	s.PageSize = cmp.Or(s.PageSize, 500)
	return &Source{
		queue: &queue{gateway: g}, projector: to, checkpoints: checkpoints, log: log, settings: s, wake: make(chan struct{}, 1), moved: time.Now(),
	}
}

// Wake makes the source poll at once, or SourceSettings.Gather after it last found events. It never blocks and may be
// called from any goroutine, so a writer in the same process can call it after each commit.
func (s *Source) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a poll is already requested
	}
}

// Run follows the queue until ctx ends. It returns when the batch in progress is projected, or after a grace period. It
// waits for a queue or read model that does not answer, and logs that. Call it once.
func (s *Source) Run(ctx context.Context) {
	if s.locate(ctx) != nil {
		return
	}
	s.log.InfoContext(ctx, "following the queue of events", "queue", s.name, "position", s.position)
	pace := polling.Pace{Min: s.settings.PollMin, Max: s.settings.PollMax}
	for {
		begun, gather := time.Now(), time.Duration(0)
		page, err := s.read(ctx)
		switch {
		case err != nil:
			return
		case len(page) == 0:
			s.lookBack(ctx)
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

// queueShard is the name of a queue's only shard.
const queueShard = "queue"

// locate finds the stored position, or the beginning if there is none or if the queue cannot have reached it.
// Projecting events again is harmless.
func (s *Source) locate(ctx context.Context) error {
	s.looked = time.Now()
	return s.retry(ctx, "reading the queue of events or its checkpoint failed; will retry", func(ctx context.Context) error {
		id, err := s.queue.StoreID(ctx)
		if err != nil {
			return err
		}
		name, at := "events:"+id, uint64(0)
		stored, err := s.checkpoints.Checkpoints(ctx, name)
		if err != nil {
			return err
		}
		end, err := s.queue.End(ctx)
		if err != nil {
			return err
		}
		for _, checkpoint := range stored {
			position, err := strconv.ParseUint(checkpoint.Position, 10, 63)
			switch {
			case checkpoint.Shard != queueShard:
			case err != nil || position > end:
				s.log.ErrorContext(ctx, "the projection is ahead of this event store, as after a backup was restored: "+
					"rows of lost events remain; rebuild the rows (docs/operations.md)",
					"position", checkpoint.Position, "end", end)
			default:
				at = position
			}
		}
		s.change(func() { s.name, s.position, s.located = name, at, true })
		return s.projector.Begin(ctx, at == 0)
	})
}

// lookBackEvery is how often an idle source checks that the queue still reaches its position.
const lookBackEvery = 5 * time.Second

// lookBack occasionally checks whether the queue ends before the position, for example after a backup was restored. If
// so, the source starts again.
func (s *Source) lookBack(ctx context.Context) {
	if time.Since(s.looked) < lookBackEvery {
		return
	}
	s.looked = time.Now()
	if end, err := s.queue.End(ctx); err == nil && end < s.position { // the next read reports the error
		_ = s.locate(ctx) // fails when ctx ends, which the caller sees
	}
}

// read reads the next page.
func (s *Source) read(ctx context.Context) (page []es.Queued, err error) {
	err = s.retry(ctx, "reading the queue of events failed; will retry", func(ctx context.Context) (err error) {
		page, err = s.queue.Read(ctx, s.position, s.settings.PageSize)
		return err
	})
	if err == nil {
		s.polls.Add(1)
		if len(page) == 0 {
			s.empty.Add(1)
		}
	}
	return page, err
}

// project has a page projected. Events without a valid aggregate are skipped and counted.
func (s *Source) project(ctx context.Context, page []es.Queued) error {
	end := page[len(page)-1].Position
	batch := projection.Batch{Checkpoint: projection.Checkpoint{Source: s.name, Shard: queueShard, Position: strconv.FormatUint(end, 10)}}
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
		s.change(func() { s.position = end })
	}
	return err
}

// rest waits until wait has passed or, after gather, until Wake is called. It returns whether ctx is still active.
func (s *Source) rest(ctx context.Context, gather, wait time.Duration) bool {
	gather = min(max(gather, 0), wait)
	if !polling.Pause(ctx, gather) {
		return false
	}
	timer := time.NewTimer(wait - gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// retry calls do until it succeeds, and tells each failure. It only fails when ctx ends.
func (s *Source) retry(ctx context.Context, text string, do func(context.Context) error) error {
	err := polling.Retry(ctx, func(err error) {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return
		}
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

// Lag returns how far the projection is behind the event store, which is queried directly, whatever state the source is
// in. If the query fails, it is the time since the source's last success.
func (s *Source) Lag(ctx context.Context) projection.Lag {
	s.mu.Lock()
	position, unknown := s.position, projection.Lag{Behind: time.Since(s.moved), AtLeast: true}
	located := s.located
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

// Health returns nil while the source makes progress: within ten seconds it has read the queue, even if there was
// nothing new, or projected a batch. Being behind is not a fault; standing still is. The error says what is stuck, and
// why.
func (s *Source) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := cmp.Or(s.trouble, polling.ErrSilent)
	if !s.located {
		return fmt.Errorf("the event store or the read model has not been reached yet: %w", reason)
	}
	if idle := time.Since(s.moved); idle > polling.StallAfter {
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
