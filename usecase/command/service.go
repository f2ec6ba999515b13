package command

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/threads/usecase"
)

// Service handles the commands of one type of aggregate. It may be used concurrently; [Service.Drain] ends it.
type Service[S, C, E any] struct {
	decider    Decider[S, C, E]
	repository Repository[S, E]
	settings   Settings
	turns      turns

	mutex   sync.Mutex
	queues  map[usecase.Key]*queue[C]
	running sync.WaitGroup
}

// Settings are what a Service can be told. The zero value of a field stands for its default.
type Settings struct {
	// Timeout bounds the handling of a batch of commands, all retries included. When others keep changing the aggregate
	// for so long, its commands are given up with [usecase.ErrConcurrentUpdate]. Default: 5 s.
	Timeout time.Duration
	// ReceiptLifetime is how long a repeat with the same idempotency key gets the first answer. Default: 48 h.
	ReceiptLifetime time.Duration
	// Clock tells the time of events. Default: time.Now.
	Clock func() time.Time
	// Logger is told of what needs a person. Default: slog.Default().
	Logger *slog.Logger
	// Counters count what happens. Default: nobody looks.
	Counters *Counters
}

// Counters count what has happened so far.
type Counters struct {
	Conflicts    atomic.Int64 // writes that failed because another process was faster
	GivenUp      atomic.Int64 // commands that were given up because others kept changing the aggregate
	Inconsistent atomic.Int64 // batches that found an aggregate's head and journal in contradiction
}

func (s Settings) withDefaults() Settings {
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Second
	}
	if s.ReceiptLifetime == 0 {
		s.ReceiptLifetime = 48 * time.Hour
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Counters == nil {
		s.Counters = new(Counters)
	}
	return s
}

// NewService returns a service that decides with decider and keeps the aggregates in repository.
func NewService[S, C, E any](decider Decider[S, C, E], repository Repository[S, E], settings Settings) *Service[S, C, E] {
	return &Service[S, C, E]{
		decider:    decider,
		repository: repository,
		settings:   settings.withDefaults(),
		queues:     map[usecase.Key]*queue[C]{},
	}
}

// Handle applies a command and returns when its events are in the journal, or it is rejected. A rejection - the decider's, a
// [usecase.VersionMismatchError] or [usecase.ErrKeyReused] - was true of the latest state. After [usecase.ErrConcurrentUpdate]
// nothing has happened; after [usecase.ErrUnavailable], or when ctx ends first, the outcome is unknown, and a repeat with the
// same idempotency key settles it.
func (s *Service[S, C, E]) Handle(ctx context.Context, request Request[C]) (Result, error) {
	c := &call[C]{
		ctx:       ctx,
		request:   request,
		commandID: request.commandID(s.settings.Clock()),
		answered:  make(chan struct{}),
	}
	s.enqueue(s.key(request.Caller, request.ID), c)
	select {
	case <-c.answered:
		return c.result, c.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Snapshot stores a snapshot of the aggregate's latest state and returns its version. It is an operation: no event
// follows. It is rejected where the decider calls the state not usable.
func (s *Service[S, C, E]) Snapshot(ctx context.Context, caller usecase.Caller, id string) (uint64, error) {
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

func (s *Service[S, C, E]) key(caller usecase.Caller, id string) usecase.Key {
	return usecase.Key{Tenant: caller.Tenant, Type: s.decider.Type, ID: id}
}

// report has somebody look at what an operator must mend.
func (s *Service[S, C, E]) report(ctx context.Context, key usecase.Key, err error) {
	if usecase.KindOf(err) == usecase.Inconsistent {
		s.settings.Counters.Inconsistent.Add(1)
		s.settings.Logger.ErrorContext(ctx, "an aggregate takes no commands: its head and its journal contradict each other; docs/guarantees.md tells what to do",
			"tenant", key.Tenant, "aggregate", key.String(), "error", err)
	}
}

// Drain waits for the commands that were taken and are still being handled, those included whose callers have gone.
// No command may be handed in after it.
func (s *Service[S, C, E]) Drain() { s.running.Wait() }
