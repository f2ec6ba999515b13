package command

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/threads/es"
)

// Service handles the commands of one aggregate type. It is safe for concurrent use. [Service.Drain] waits for its
// work.
type Service[S, C, E any] struct {
	decider    Decider[S, C, E]
	repository Repository[S, E]
	settings   Settings
	turns      turns
	workers    *workers

	mutex  sync.Mutex
	queues map[es.Key]*queue[C]
}

// Settings configure a Service. Zero fields take their defaults.
type Settings struct {
	// Timeout limits the handling of a batch, including all retries. After that, commands in conflict with other
	// writers fail with [es.ErrConcurrentUpdate]. Default: 5 s.
	Timeout time.Duration
	// Clock returns the time for events. Default: time.Now.
	Clock func() time.Time
	// CheckClock returns why the time of Clock must not be used, if so: commands are then refused as if the store did
	// not answer. Default: no check beside that for absurd times.
	CheckClock func(context.Context) error
	// Logger receives messages for the operator. Default: slog.Default().
	Logger *slog.Logger
	// Counters receive the counts. Default: not shared.
	Counters *Counters
	// Observer is told of commands and writes. Default: nobody.
	Observer Observer
}

// receiptLifetime is how long a repeat with the same idempotency key gets the first answer.
const receiptLifetime = 48 * time.Hour

// Counters are running totals.
type Counters struct {
	Conflicts    atomic.Int64 // writes that failed because another writer was faster
	GivenUp      atomic.Int64 // commands that failed with ErrConcurrentUpdate
	Inconsistent atomic.Int64 // batches that failed because an aggregate's head and journal contradict each other
}

func (s Settings) withDefaults() Settings {
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Second
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.CheckClock == nil {
		s.CheckClock = func(context.Context) error { return nil }
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Counters == nil {
		s.Counters = new(Counters)
	}
	if s.Observer == nil {
		s.Observer = nobody{}
	}
	return s
}

// NewService returns a service that decides with decider and loads and saves with repository.
func NewService[S, C, E any](decider Decider[S, C, E], repository Repository[S, E], settings Settings) *Service[S, C, E] {
	return &Service[S, C, E]{
		decider:    decider,
		repository: repository,
		settings:   settings.withDefaults(),
		workers:    newWorkers(),
		queues:     map[es.Key]*queue[C]{},
	}
}

// Handle applies a command. It returns when the events are in the journal, or the command is rejected. A rejection (the
// decider's, a [es.VersionMismatchError] or [es.ErrKeyReused]) was decided on the latest state. After
// [es.ErrConcurrentUpdate] nothing was written. After [es.ErrUnavailable], or when ctx ends first, the
// outcome is unknown: repeat with the same idempotency key to learn it.
func (s *Service[S, C, E]) Handle(ctx context.Context, request Request[C]) (Result, error) {
	ctx, span := es.StartSpan(ctx, request.Name)
	defer span.End()
	result, err := s.await(ctx, request)
	s.observe(span, request.Name, result, err)
	return result, err
}

func (s *Service[S, C, E]) await(ctx context.Context, request Request[C]) (Result, error) {
	c := &call[C]{
		ctx:         ctx,
		request:     request,
		commandID:   request.commandID(s.settings.Clock()),
		traceparent: es.Traceparent(ctx),
		answered:    make(chan struct{}),
	}
	s.enqueue(s.key(request.Caller, request.ID), c)
	select {
	case <-c.answered:
		return c.result, c.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Snapshot stores a snapshot of the aggregate's latest state and returns its version. No event results from it. It
// fails with the decider's error when the state is not usable.
func (s *Service[S, C, E]) Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error) {
	key := s.key(caller, id)
	state, err := s.repository.Reload(ctx, key)
	if err == nil && state.Version == 0 {
		err = s.repository.Confirm(ctx, key, 0)
	}
	if err == nil {
		if err := s.decider.Usable(state.Value); err != nil {
			return 0, err
		}
		err = s.repository.SaveSnapshot(ctx, key, state)
	}
	s.report(ctx, key, err)
	return state.Version, err
}

func (s *Service[S, C, E]) key(caller es.Caller, id string) es.Key {
	return es.Key{Tenant: caller.Tenant, Type: s.decider.Type, ID: id}
}

// report counts and logs an inconsistent aggregate, which an operator must repair.
func (s *Service[S, C, E]) report(ctx context.Context, key es.Key, err error) {
	if es.KindOf(err) == es.Inconsistent {
		s.settings.Counters.Inconsistent.Add(1)
		s.settings.Logger.ErrorContext(ctx, "an aggregate takes no commands because its head and journal contradict each other: `journal check` tells what to do",
			"tenant", key.Tenant, "aggregate", key.String(), "error", err)
	}
}

// Drain waits for all commands in progress, including those whose callers have disconnected. Handle must not be called
// after it.
func (s *Service[S, C, E]) Drain() { s.workers.drain() }
