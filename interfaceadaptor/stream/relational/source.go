package relational

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase/projection"
)

// Source feeds a projector from a queue. At most one process should run one for a read model: two of them do no harm
// but do everything twice.
type Source struct {
	ports    Ports
	settings Settings
	counters Counters
	wake     chan struct{} // holds a token from Wake until the next poll
	meter    meter
}

// New makes a source. Nothing is called before [Source.Run].
func New(ports Ports, settings Settings) *Source {
	return &Source{
		ports: ports, settings: settings.withDefaults(), wake: make(chan struct{}, 1), meter: meter{state: state{started: time.Now()}},
	}
}

// Counters are what the source has done so far.
func (s *Source) Counters() *Counters { return &s.counters }

// Wake has the source look for events at once. It never blocks and may be called from anywhere, so that a writer in the
// same process can call it after each commit.
func (s *Source) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Run follows the queue until ctx ends, and returns when the batch in hand is projected or Settings.Grace is over. It
// waits for what does not answer - the queue, the read model - and says so in the log. It is called once.
func (s *Source) Run(ctx context.Context) {
	var at bookmark
	located := persist(ctx, s.reporter(ctx, "the queue of events or its checkpoint can't be read; tried again"), func() (err error) {
		at, err = s.locate(ctx)
		return err
	})
	if !located {
		return
	}
	s.ports.Log.InfoContext(ctx, "following the queue of events", "queue", at.queue, "position", at.position)
	s.meter.locate(at.position)
	pace := pace{min: s.settings.PollMin, max: s.settings.PollMax}
	for {
		page, ok := s.read(ctx, at.position)
		if !ok {
			return
		}
		if len(page) > 0 {
			if !s.project(ctx, at.queue, page) {
				return
			}
			at.position = page[len(page)-1].Position
			s.meter.moveTo(at.position)
		}
		if len(page) < s.settings.PageSize && !s.rest(ctx, pace.next(len(page) > 0, time.Now())) || ctx.Err() != nil {
			return
		}
	}
}

// read gets the next page, however long that takes. It is false when ctx ended first.
func (s *Source) read(ctx context.Context, position uint64) (page []repository.Queued, ok bool) {
	ok = persist(ctx, s.reporter(ctx, "the queue of events can't be read; tried again"), func() (err error) {
		page, err = s.ports.Queue.Read(ctx, position, s.settings.PageSize)
		return err
	})
	if ok {
		s.meter.step()
		s.counters.Polls.Add(1)
		if len(page) == 0 {
			s.counters.Empty.Add(1)
		}
	}
	return page, ok
}

// project has a page projected, however long that takes. It is false when ctx ended first.
func (s *Source) project(ctx context.Context, queue string, page []repository.Queued) bool {
	batch := s.batchOf(ctx, queue, page)
	done := persist(ctx, s.reporter(ctx, "a batch could not be projected; tried again"), func() error { return s.handOver(ctx, batch) })
	if done {
		s.counters.Records.Add(int64(len(batch.Records)))
	}
	return done
}

// handOver gives the batch until Grace after the end of ctx, so that a stop does not break it off. A panic is an error:
// it may pass, and says more than a program that has gone.
func (s *Source) handOver(ctx context.Context, batch projection.Batch) (err error) {
	work, cancel := outlive(ctx, s.settings.Grace)
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic while projecting: %v\n%s", reason, debug.Stack())
		}
	}()
	_, err = s.ports.Projector.Project(work, batch)
	return err
}

// rest waits for the time to pass, or for a Wake, and tells whether ctx is still alive.
func (s *Source) rest(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (s *Source) reporter(ctx context.Context, what string) func(error) {
	return func(err error) {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return
		}
		s.counters.Failures.Add(1)
		s.meter.fail(err)
		s.ports.Log.WarnContext(ctx, what, "error", err)
	}
}
