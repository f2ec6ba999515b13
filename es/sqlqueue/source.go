package sqlqueue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// Source hands the events of a queue to a projector. At most one process should run a source for a read model: two are
// safe but do everything twice.
type Source struct {
	ports    Ports
	settings Settings
	counters Counters
	wake     chan struct{} // holds a token from Wake until the next poll
	meter    meter
}

// Counters are running totals.
type Counters struct {
	Polls    atomic.Int64 // successful reads
	Empty    atomic.Int64 // of them, those without events
	Failures atomic.Int64 // failed reads and batches; each is retried
	Records  atomic.Int64 // projected events
	Skipped  atomic.Int64 // events without a valid aggregate
}

// New returns a source. Nothing is called before [Source.Run].
func New(ports Ports, settings Settings) *Source {
	return &Source{
		ports: ports, settings: settings.withDefaults(), wake: make(chan struct{}, 1), meter: meter{state: sourceState{started: time.Now()}},
	}
}

// Counters returns the running totals.
func (s *Source) Counters() *Counters { return &s.counters }

// Wake makes the source poll at once, or Settings.Gather after it last found events. It never blocks and may be called
// from any goroutine, so a writer in the same process can call it after each commit.
func (s *Source) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a poll is already requested
	}
}

// Run follows the queue until ctx ends. It returns when the batch in progress is projected or Settings.Grace is over.
// It waits for a queue or read model that does not answer, and logs that. Call it once.
func (s *Source) Run(ctx context.Context) {
	var at bookmark
	err := polling.Retry(ctx, s.reporter(ctx, "reading the queue of events or its checkpoint failed; will retry"), func(ctx context.Context) (err error) {
		if at, err = s.locate(ctx); err != nil {
			return err
		}
		return s.ports.Projector.Begin(ctx, at.position == 0)
	})
	if err != nil {
		return
	}
	s.ports.Log.InfoContext(ctx, "following the queue of events", "queue", at.queue, "position", at.position)
	s.meter.locate(at.position)
	looked := time.Now()
	pace := polling.Pace{Min: s.settings.PollMin, Max: s.settings.PollMax}
	for {
		begun, gather := time.Now(), time.Duration(0)
		page, err := s.read(ctx, at.position)
		if err != nil {
			return
		}
		if len(page) > 0 {
			if s.project(ctx, at.queue, page) != nil {
				return
			}
			at.position = page[len(page)-1].Position
			s.meter.moveTo(at.position)
			gather = s.settings.Gather - time.Since(begun)
		} else if looked = s.lookBack(ctx, &at, looked); ctx.Err() != nil {
			return
		}
		if !s.rest(ctx, gather, pace.Next(len(page), s.settings.PageSize, time.Now())) {
			return
		}
	}
}

// lookBackEvery is how often an idle source checks that the queue still reaches its position.
const lookBackEvery = 5 * time.Second

// lookBack occasionally checks whether the queue ends before the position, for example after a backup was restored. If
// so, the source starts again. It returns the time of the last check.
func (s *Source) lookBack(ctx context.Context, at *bookmark, looked time.Time) time.Time {
	if time.Since(looked) < lookBackEvery {
		return looked
	}
	end, err := s.ports.Queue.End(ctx)
	if err != nil || end >= at.position {
		return time.Now() // the next read reports the error
	}
	_ = polling.Retry(ctx, s.reporter(ctx, "reading the queue of events or its checkpoint failed; will retry"), func(ctx context.Context) error {
		now, err := s.locate(ctx)
		if err != nil {
			return err
		}
		*at = now
		s.meter.locate(now.position)
		return s.ports.Projector.Begin(ctx, now.position == 0)
	}) // fails when ctx ends, which the caller sees
	return time.Now()
}

// read reads the next page, retrying until it succeeds. It only fails when ctx ends.
func (s *Source) read(ctx context.Context, position uint64) (page []es.Queued, err error) {
	err = polling.Retry(ctx, s.reporter(ctx, "reading the queue of events failed; will retry"), func(ctx context.Context) (err error) {
		page, err = s.ports.Queue.Read(ctx, position, s.settings.PageSize)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.meter.step()
	s.counters.Polls.Add(1)
	if len(page) == 0 {
		s.counters.Empty.Add(1)
	}
	return page, nil
}

// project has a page projected, retrying until it succeeds. It only fails when ctx ends.
func (s *Source) project(ctx context.Context, queue string, page []es.Queued) error {
	batch := s.batchOf(ctx, queue, page)
	err := polling.Retry(ctx, s.reporter(ctx, "projecting a batch failed; will retry"), func(ctx context.Context) error {
		return polling.HandOver(ctx, s.ports.Projector, batch, s.settings.Grace)
	})
	if err == nil {
		s.counters.Records.Add(int64(len(batch.Records)))
	}
	return err
}

// batchOf converts a page. Events without a valid aggregate are skipped and counted.
func (s *Source) batchOf(ctx context.Context, queue string, page []es.Queued) projection.Batch {
	batch := projection.Batch{Checkpoint: bookmark{queue, page[len(page)-1].Position}.checkpoint()}
	for _, queued := range page {
		if err := queued.ID.Check(); err != nil {
			s.counters.Skipped.Add(1)
			s.ports.Log.WarnContext(ctx, "skipped an event of the queue that names no valid aggregate", "sequence_number", queued.Position, "reason", err)
			continue
		}
		batch.Records = append(batch.Records, projection.Record{Key: queued.ID, SeqNr: queued.SeqNr, Payload: queued.Payload})
	}
	return batch
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

func (s *Source) reporter(ctx context.Context, text string) func(error) {
	return func(err error) {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return
		}
		s.counters.Failures.Add(1)
		s.meter.fail(err)
		s.ports.Log.WarnContext(ctx, text, "error", err)
	}
}
