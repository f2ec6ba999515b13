package es

import (
	"context"
	"sync"
)

// Service handles the commands of one aggregate type. It is safe for concurrent use. [Service.Close] ends it.
type Service[S, C, E any] struct {
	*Repository[S, E]
	aggregate Aggregate[S, C, E]
	settings  Settings
	turns     turns
	workers   *workers

	mutex  sync.Mutex
	queues map[AggregateID]*queue[C]
}

// NewService returns a service with a [Repository] of its own over store.
func NewService[S, C, E any](aggregate Aggregate[S, C, E], store EventPersistenceGateway, settings Settings) *Service[S, C, E] {
	settings = settings.withDefaults()
	return &Service[S, C, E]{
		Repository: NewRepository(aggregate, store, settings),
		aggregate:  aggregate.withDefaults(),
		settings:   settings,
		workers:    newWorkers(),
		queues:     map[AggregateID]*queue[C]{},
	}
}

// Handle applies a command. It returns when the events are in the journal, or the command is rejected. A rejection (the
// decider's, a [VersionMismatchError] or [ErrKeyReused]) was decided on the latest state. After
// [ErrConcurrentUpdate] nothing was written. After [ErrUnavailable], or when ctx ends first, the
// outcome is unknown: repeat with the same idempotency key to learn it. An id that is not of the form of
// [AggregateID.Check] is an [InvalidError].
func (s *Service[S, C, E]) Handle(ctx context.Context, request Request[C]) (Result, error) {
	ctx, span := StartSpan(ctx, request.Name)
	defer span.End()
	result, err := s.await(ctx, request)
	s.observe(span, request.Name, result, err)
	return result, err
}

func (s *Service[S, C, E]) await(ctx context.Context, request Request[C]) (Result, error) {
	key := s.key(request.Caller, request.ID)
	if err := key.Check(); err != nil {
		return Result{}, err
	}
	c := &call[C]{
		ctx:         ctx,
		request:     request,
		commandID:   request.commandID(s.settings.Clock()),
		traceparent: Traceparent(ctx),
		answered:    make(chan struct{}),
	}
	s.enqueue(key, c)
	select {
	case <-c.answered:
		return c.result, c.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Snapshot stores a snapshot of the aggregate's latest state and returns its version. No event results from it. It
// fails with the decider's error when the state is not usable.
func (s *Service[S, C, E]) Snapshot(ctx context.Context, caller Caller, id string) (uint64, error) {
	key := s.key(caller, id)
	state, err := s.Reload(ctx, key)
	if err == nil && state.Version == 0 {
		err = s.Confirm(ctx, key, 0)
	}
	if err == nil {
		if err := s.aggregate.Usable(state.Value); err != nil {
			return 0, err
		}
		err = s.SaveSnapshot(ctx, key, state)
	}
	s.report(ctx, key, err)
	return state.Version, err
}

func (s *Service[S, C, E]) key(caller Caller, id string) AggregateID {
	return AggregateID{Tenant: caller.Tenant, Type: s.Type(), ID: id}
}

// report counts and logs an inconsistent aggregate, which an operator must repair.
func (s *Service[S, C, E]) report(ctx context.Context, key AggregateID, err error) {
	if KindOf(err) == Inconsistent {
		s.settings.Metrics.inconsistent.Inc()
		s.settings.Logger.ErrorContext(ctx, "an aggregate takes no commands because its head and journal contradict each other: `journal check` tells what to do",
			"tenant", key.Tenant, "aggregate", key.String(), "error", err)
	}
}

// Close completes all commands in progress, including those whose callers have disconnected. Then it writes the pending
// snapshots until ctx ends, which only costs time at the next load; see [Repository.Close]. Handle must not be called
// after it.
func (s *Service[S, C, E]) Close(ctx context.Context) error {
	s.workers.drain()
	return s.Repository.Close(ctx)
}
