package es

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	snapshotTimeout = 30 * time.Second
	// maxDue limits the aggregates that wait for a snapshot. Beyond it, a snapshot is due again after the aggregate's
	// next event.
	maxDue = 1000
	// bytesPerEvent is how much of a state, as [SnapshotCodec.Size] estimates it, is written to a snapshot for each
	// event at most, so that snapshots cost a small part of the commands at any size of the state.
	bytesPerEvent = 1000
)

// snapshotter writes snapshots in the background, one after the other. Its goroutine exits when there is nothing to
// write. A snapshot that could not be written is due again after the aggregate's next event.
type snapshotter[S any] struct {
	snapshots EventPersistenceGateway
	codec     SnapshotCodec[S]
	states    *stateCache[S]
	metrics   typeMetrics
	every     uint64
	logger    *slog.Logger

	mutex   sync.Mutex
	due     map[AggregateID]dueSnapshot[S]
	working bool
	cancel  context.CancelFunc // cancels the write in progress
	closed  bool
	running sync.WaitGroup
}

type dueSnapshot[S any] struct {
	ctx   context.Context // carries the command's log attributes; it is never cancelled
	state State[S]
}

func newSnapshotter[S any](snapshots EventPersistenceGateway, codec SnapshotCodec[S], states *stateCache[S], metrics typeMetrics, settings Settings) *snapshotter[S] {
	return &snapshotter[S]{
		snapshots: snapshots,
		codec:     codec,
		states:    states,
		metrics:   metrics,
		every:     settings.SnapshotEvery,
		logger:    settings.Logger,
		due:       map[AggregateID]dueSnapshot[S]{},
		cancel:    func() {},
	}
}

// saved is called after an aggregate's events were saved.
func (s *snapshotter[S]) saved(ctx context.Context, key AggregateID, known cached[S]) {
	if !s.isDue(known) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed || len(s.due) >= maxDue {
		return
	}
	s.due[key] = dueSnapshot[S]{context.WithoutCancel(ctx), known.state}
	if !s.working {
		s.working = true
		s.running.Go(s.work)
	}
}

func (s *snapshotter[S]) isDue(known cached[S]) bool {
	return known.state.Version >= known.snapshotVersion+s.distance(known.state.Value)
}

// SnapshotDistance returns the number of events between two snapshots of a state.
func (r *Repository[S, E]) SnapshotDistance(state S) uint64 { return r.snapshotter.distance(state) }

// distance returns the number of events between two snapshots of a state. It doubles as the state grows.
func (s *snapshotter[S]) distance(state S) uint64 {
	distance := s.every
	for wanted := uint64(s.codec.Size(state)) / bytesPerEvent; distance < wanted; {
		distance *= 2
	}
	return distance
}

func (s *snapshotter[S]) work() {
	for key, due, found := s.next(); found; key, due, found = s.next() {
		// A snapshot of the aggregate may have been written while it waited here.
		if known, found := s.states.get(key); found && !s.isDue(cached[S]{due.state, known.snapshotVersion}) {
			continue
		}
		if err := s.write(due.ctx, key, due.state); err != nil {
			s.metrics.failed.Inc()
			s.logger.WarnContext(due.ctx, "could not write a snapshot; the aggregate's next event will retry",
				"tenant", key.Tenant, "aggregate", key.String(), "version", due.state.Version, "error", err)
		}
	}
}

// next returns any pending snapshot, with a context that ends after the timeout or when close cancels it.
func (s *snapshotter[S]) next() (AggregateID, dueSnapshot[S], bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cancel() // releases the previous context
	for key, due := range s.due {
		delete(s.due, key)
		due.ctx, s.cancel = context.WithTimeout(due.ctx, snapshotTimeout)
		return key, due, true
	}
	s.working = false
	return AggregateID{}, dueSnapshot[S]{}, false
}

func (s *snapshotter[S]) write(ctx context.Context, key AggregateID, state State[S]) error {
	payload, err := s.codec.Encode(key.ID, state.Version, state.Value)
	if err != nil {
		return err
	}
	if err := s.snapshots.SaveSnapshot(ctx, key, Snapshot{Version: state.Version, Payload: payload}); err != nil {
		return err
	}
	s.metrics.written.Inc()
	s.metrics.writtenBytes.Add(float64(len(payload)))
	s.states.remember(key, state, state.Version)
	return nil
}

// close writes the pending snapshots. When ctx ends first, it drops the rest. After it returns nothing is being
// written.
func (s *snapshotter[S]) close(ctx context.Context) error {
	s.mutex.Lock()
	s.closed = true
	s.mutex.Unlock()

	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.mutex.Lock()
		clear(s.due)
		s.cancel()
		s.mutex.Unlock()
		<-done
		return ctx.Err()
	}
}
