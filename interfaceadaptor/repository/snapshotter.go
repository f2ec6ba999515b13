package repository

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

const (
	snapshotTimeout = 30 * time.Second
	// maxDue bounds the aggregates that wait for a snapshot. One that finds no place is due again at its next event.
	maxDue = 1000
)

// snapshotter writes snapshots off the commands' path: one after the other, by a goroutine that is there while there
// is something to write. A snapshot that could not be written is due again at the aggregate's next event.
type snapshotter[S any] struct {
	snapshots eventstore.Snapshots
	codec     SnapshotCodec[S]
	states    *stateCache[S]
	every     uint64
	logger    *slog.Logger

	mutex   sync.Mutex
	due     map[usecase.Key]dueSnapshot[S]
	working bool
	cancel  context.CancelFunc // gives up the one that is being written
	closed  bool
	running sync.WaitGroup
}

type dueSnapshot[S any] struct {
	ctx   context.Context // carries what the log tells about the command; does not end with it
	state command.State[S]
}

func newSnapshotter[S any](snapshots eventstore.Snapshots, codec SnapshotCodec[S], states *stateCache[S], settings Settings) *snapshotter[S] {
	return &snapshotter[S]{
		snapshots: snapshots,
		codec:     codec,
		states:    states,
		every:     settings.SnapshotEvery,
		logger:    settings.Logger,
		due:       map[usecase.Key]dueSnapshot[S]{},
		cancel:    func() {},
	}
}

// saved tells the snapshotter that an aggregate has moved on.
func (s *snapshotter[S]) saved(ctx context.Context, key usecase.Key, known remembered[S]) {
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

func (s *snapshotter[S]) isDue(known remembered[S]) bool {
	return known.state.Version >= known.snapshotVersion+s.every
}

func (s *snapshotter[S]) work() {
	for key, due, found := s.next(); found; key, due, found = s.next() {
		// While an aggregate waited here, a snapshot of it may have been written.
		if known, found := s.states.get(key); found && !s.isDue(remembered[S]{due.state, known.snapshotVersion}) {
			continue
		}
		if err := s.write(due.ctx, key, due.state); err != nil {
			s.logger.WarnContext(due.ctx, "a snapshot could not be written; the aggregate's next event tries again",
				"tenant", key.Tenant, "aggregate", key.String(), "version", due.state.Version, "error", err)
		}
	}
}

// next takes any snapshot that is due, with a context that ends when its time is over or close gives it up.
func (s *snapshotter[S]) next() (usecase.Key, dueSnapshot[S], bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cancel() // the one before is done with
	for key, due := range s.due {
		delete(s.due, key)
		due.ctx, s.cancel = context.WithTimeout(due.ctx, snapshotTimeout)
		return key, due, true
	}
	s.working = false
	return usecase.Key{}, dueSnapshot[S]{}, false
}

func (s *snapshotter[S]) write(ctx context.Context, key usecase.Key, state command.State[S]) error {
	payload, err := s.codec.Encode(key.ID, state.Version, state.Value)
	if err != nil {
		return err
	}
	if err := s.snapshots.SaveSnapshot(ctx, aggregateOf(key), eventstore.Snapshot{Version: state.Version, Payload: payload}); err != nil {
		return err
	}
	s.states.remember(key, state, state.Version)
	return nil
}

// close writes what is due; when ctx ends first, it gives up the rest. Nothing is being written any more when it returns.
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
