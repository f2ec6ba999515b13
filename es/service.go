package es

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Settings configure a [Repository] and a [Service]. Zero fields take their defaults.
type Settings struct {
	// Timeout limits the handling of a batch of commands, including all retries. Default: 5 s.
	Timeout time.Duration
	// Clock returns the time for events. Default: time.Now.
	Clock func() time.Time
	// CheckClock returns why the time of Clock must not be used: commands are then refused as [Unavailable]. Default:
	// absurd times alone are refused.
	CheckClock func(context.Context) error
	// SnapshotEvery is the least number of events between two snapshots. A large state gets a snapshot less often.
	// Default: 100.
	SnapshotEvery uint64
	// CacheBytes limits the memory of the cached states. Default: 64 MiB.
	CacheBytes uint64
	// Logger receives messages for the operator. Default: slog.Default().
	Logger *slog.Logger
	// Metrics count commands and states, for one service or repository of each aggregate type. Default: new ones, which
	// are not registered anywhere.
	Metrics *Metrics
}

func (s Settings) withDefaults() Settings {
	s.Timeout = cmp.Or(s.Timeout, 5*time.Second)
	s.SnapshotEvery = cmp.Or(s.SnapshotEvery, 100)
	s.CacheBytes = cmp.Or(s.CacheBytes, 64<<20)
	s.Logger = cmp.Or(s.Logger, slog.Default())
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.CheckClock == nil {
		s.CheckClock = func(context.Context) error { return nil }
	}
	if s.Metrics == nil {
		s.Metrics = NewMetrics()
	}
	return s
}

// Service handles the commands of one aggregate type. It is safe for concurrent use. [Service.Close] ends it.
type Service[S, C, E any] struct {
	*Repository[S, E]
	aggregate Aggregate[S, C, E]
	fairness  fairness
	working   sync.WaitGroup // on the calls of an aggregate

	mutex sync.Mutex
	// waiting has the calls that wait while earlier ones are handled, for each aggregate that is worked on.
	waiting map[AggregateID][]*call[C, E]
}

// NewService returns a service with a [Repository] of its own over store.
func NewService[S, C, E any](aggregate Aggregate[S, C, E], store EventPersistenceGateway, settings Settings) *Service[S, C, E] {
	return &Service[S, C, E]{
		Repository: NewRepository(aggregate, store, settings),
		aggregate:  aggregate.withDefaults(),
		fairness:   fairness{contended: map[AggregateID]contention{}},
		waiting:    map[AggregateID][]*call[C, E]{},
	}
}

// Handle applies a command: it loads the aggregate, has it decide and appends the events, again if another writer was
// faster. Commands that arrive meanwhile share the next write. It returns when the events are in the journal, or the
// command is rejected on the latest state: by the decider, or with a [VersionMismatchError], [ErrKeyReused], or an
// [InvalidError] for its id or its caller. After [ErrConcurrentUpdate] nothing was written. After [ErrUnavailable], or
// when ctx ends first, the outcome is unknown: repeat with the same idempotency key to learn it. A write that has begun
// is completed first.
func (s *Service[S, C, E]) Handle(ctx context.Context, request Request[C]) (result Result, err error) {
	ctx, span := StartSpan(ctx, request.Name)
	defer func() {
		s.observe(span, request.Name, result, err)
		span.End()
	}()
	key := s.key(request.Caller, request.ID)
	if err := cmp.Or(key.Check(), request.check()); err != nil {
		return Result{}, err
	}
	c := &call[C, E]{
		ctx:         ctx,
		request:     request,
		commandID:   request.commandID(s.settings.Clock()),
		traceparent: traceparentOf(ctx),
		answered:    make(chan struct{}),
	}
	s.mutex.Lock()
	waiting, busy := s.waiting[key]
	s.waiting[key] = append(waiting, c)
	s.mutex.Unlock()
	if !busy {
		s.work(key)
		return c.result, c.err
	}
	select {
	case <-c.answered:
		return c.result, c.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Snapshot stores a snapshot of the latest state, if that is usable, and returns its version.
func (s *Service[S, C, E]) Snapshot(ctx context.Context, caller Caller, id string) (uint64, error) {
	key := s.key(caller, id)
	state, err := s.Repository.Reload(ctx, key)
	if err == nil && state.Version == 0 {
		err = s.confirm(ctx, key, 0)
	}
	if err == nil {
		if err := s.aggregate.Usable(state.Value); err != nil {
			return 0, err
		}
		err = s.SaveSnapshot(ctx, key, state)
	}
	if errors.Is(err, ErrConflict) {
		err = ErrConcurrentUpdate
	}
	s.report(ctx, key, err)
	return state.Version, err
}

// Reload is [Repository.Reload], whose faults it reports as those of a command.
func (s *Service[S, C, E]) Reload(ctx context.Context, key AggregateID) (State[S], error) {
	state, err := s.Repository.Reload(ctx, key)
	s.report(ctx, key, err)
	return state, err
}

func (s *Service[S, C, E]) key(caller Caller, id string) AggregateID {
	return AggregateID{Tenant: caller.Tenant, Type: s.Type(), ID: id}
}

// report counts and logs an inconsistent aggregate, which an operator must repair.
func (s *Service[S, C, E]) report(ctx context.Context, key AggregateID, err error) {
	if KindOf(err) == Inconsistent {
		s.settings.Metrics.inconsistent.Inc()
		s.settings.Logger.ErrorContext(ctx, "an aggregate takes no commands because its head and journal contradict each other: a journal check tells what to do",
			"tenant", key.Tenant, "aggregate", key.String(), "error", err)
	}
}

// Close completes all commands in progress and closes the repository. Handle must not be called after it.
func (s *Service[S, C, E]) Close(ctx context.Context) error {
	s.working.Wait()
	return s.Repository.Close(ctx)
}

// call is a request on its way through the service.
type call[C, E any] struct {
	ctx         context.Context // the caller's
	request     Request[C]
	commandID   string
	traceparent string // of ctx

	events   []Recorded[E] // that the command leads to
	result   Result
	err      error         // why there are no events
	answered chan struct{} // closed when result and err are final
}

// answer is the end of a call that has no answer yet.
func (c *call[C, E]) answer(result Result, err error) {
	select {
	case <-c.answered:
	default:
		c.result, c.err = result, err
		close(c.answered)
	}
}

// maxBatch limits the commands of a batch: each may need an event and a receipt.
const maxBatch = MaxAppend / 2

// work handles the calls that wait for the aggregate. The first one's caller does it: on a new goroutine, whose stack
// would have to grow, a command takes a tenth more processor time. Calls that arrive meanwhile share the next write.
func (s *Service[S, C, E]) work(key AggregateID) {
	s.working.Add(1)
	defer s.working.Done()
	if calls := s.next(key); len(calls) > 0 {
		s.handle(key, calls)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.waiting[key]) > 0 {
		s.working.Go(func() { s.work(key) })
	} else {
		delete(s.waiting, key)
	}
}

// next takes a batch of the waiting calls, without those whose callers have gone and with no command id twice.
func (s *Service[S, C, E]) next(key AggregateID) []*call[C, E] {
	s.fairness.yield(key)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var batch, rest []*call[C, E]
	for _, c := range s.waiting[key] {
		same := func(taken *call[C, E]) bool { return taken.commandID == c.commandID }
		switch {
		case c.ctx.Err() != nil:
			c.answer(Result{}, c.ctx.Err())
		case len(batch) == maxBatch || slices.ContainsFunc(batch, same):
			rest = append(rest, c)
		default:
			batch = append(batch, c)
		}
	}
	s.waiting[key] = rest
	return batch
}

// The times that a working clock can show. They are not compared with the aggregate's last event: one process with a
// fast clock would lock all others out of the aggregate.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// now returns the time of the events to decide, or an error if this process's clock is wrong.
func (s *Service[S, C, E]) now(ctx context.Context) (time.Time, error) {
	now := s.settings.Clock().UTC().Truncate(time.Microsecond)
	err := s.settings.CheckClock(ctx)
	if now.Before(earliest) || now.After(latest) {
		err = fmt.Errorf("this computer's clock says %s; set the clock", now.Format(time.RFC3339))
	}
	if err != nil {
		s.settings.Logger.ErrorContext(ctx, "commands are refused because this computer's clock is wrong", "error", err)
		// As with an unreachable store: another process may succeed.
		err = fmt.Errorf("%w: %w", &unusable{failure{Unavailable, "the clock of this server is wrong, so nothing was written; an operator must set it"}}, err)
	}
	return now, err
}

const (
	compareEvery   = 15 * time.Second
	compareTimeout = time.Second
)

// ClockWatch compares this computer's clock with the event store's, for [Settings].CheckClock.
type ClockWatch struct {
	Clock     func() time.Time                         // this computer's
	Other     func(context.Context) (time.Time, error) // reads the one to compare with
	Tolerance time.Duration                            // the maximum accepted difference

	mutex    sync.Mutex
	compared time.Time     // when Other was last called, even if it failed
	said     time.Time     // by Clock then
	ahead    time.Duration // how far Clock was ahead when Other last answered
}

// Check returns an error if the clocks differed by more than the tolerance when they were last compared, which it does
// every 15 s, and at once when this clock was set, if the other clock can be read. A nil watch knows no other clock,
// and finds none wrong.
func (w *ClockWatch) Check(ctx context.Context) error {
	if w == nil {
		return nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	since := time.Since(w.compared)                  // by the monotonic clock
	moved := w.Clock().Round(0).Sub(w.said.Round(0)) // by this one
	if w.compared.IsZero() || since >= compareEvery || (moved-since).Abs() > w.Tolerance {
		ctx, cancel := context.WithTimeout(ctx, compareTimeout)
		defer cancel()
		if other, err := w.Other(ctx); err == nil {
			w.ahead = w.Clock().Sub(other)
		}
		w.compared, w.said = time.Now(), w.Clock()
	}
	if w.ahead.Abs() <= w.Tolerance {
		return nil
	}
	relation := "ahead of"
	if w.ahead < 0 {
		relation = "behind"
	}
	return fmt.Errorf("this computer's clock is %s %s the event store's, and at most %s is accepted; correct the clock that is wrong",
		w.ahead.Abs().Round(time.Second), relation, w.Tolerance)
}

// Ahead returns how far the clock was ahead of the other one at the last comparison; negative: behind.
func (w *ClockWatch) Ahead() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.ahead
}

// Wait waits for the duration, or returns ctx's cause if ctx ends first.
func Wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
	case <-ctx.Done():
	}
	return context.Cause(ctx) // nil: it has not ended
}

// Backoff returns the pause after a failure that followed on so many others: first, doubled by each of those, at most
// longest, less up to half at random, so that those who failed together do not retry together.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	pause := min(first<<min(failures, 10), longest)
	return pause - rand.N(pause/2)
}
