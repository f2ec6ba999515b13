package repository

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/usecase"
)

const (
	snapshotTimeout = 30 * time.Second
	// maxDue bounds the threads that wait for a snapshot. One that finds no place is due again at its next event.
	maxDue = 1000
)

// snapshotter writes snapshots off the commands' path: one after the other, by a goroutine that is there while there
// is something to write. A snapshot that could not be written is due again at the thread's next event.
type snapshotter struct {
	snapshots Snapshots
	states    *stateCache
	every     uint64
	logger    *slog.Logger

	mutex   sync.Mutex
	due     map[usecase.ThreadKey]dueSnapshot
	working bool
	closed  bool
	running sync.WaitGroup
}

type dueSnapshot struct {
	ctx   context.Context // carries what the log tells about the command; does not end with it
	state thread.Thread
}

func newSnapshotter(snapshots Snapshots, states *stateCache, settings Settings) *snapshotter {
	return &snapshotter{
		snapshots: snapshots,
		states:    states,
		every:     settings.SnapshotEvery,
		logger:    settings.Logger,
		due:       map[usecase.ThreadKey]dueSnapshot{},
	}
}

// saved tells the snapshotter that a thread has moved on.
func (s *snapshotter) saved(ctx context.Context, key usecase.ThreadKey, thread remembered) {
	if !s.isDue(thread) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed || len(s.due) >= maxDue {
		return
	}
	s.due[key] = dueSnapshot{context.WithoutCancel(ctx), thread.state}
	if !s.working {
		s.working = true
		s.running.Go(s.work)
	}
}

func (s *snapshotter) isDue(thread remembered) bool {
	return thread.state.Version() >= thread.snapshotVersion+s.every
}

func (s *snapshotter) work() {
	for key, snapshot := s.next(); snapshot.ctx != nil; key, snapshot = s.next() {
		// While a thread waited here, a snapshot of it may have been written.
		if known, found := s.states.get(key); found && !s.isDue(remembered{snapshot.state, known.snapshotVersion}) {
			continue
		}
		ctx, cancel := context.WithTimeout(snapshot.ctx, snapshotTimeout)
		if err := s.write(ctx, key, snapshot.state); err != nil {
			s.logger.WarnContext(ctx, "a snapshot could not be written; the thread's next event tries again",
				"thread", key.Thread, "version", snapshot.state.Version(), "error", err)
		}
		cancel()
	}
}

// next takes any snapshot that is due; without a context, there is none.
func (s *snapshotter) next() (usecase.ThreadKey, dueSnapshot) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key, snapshot := range s.due {
		delete(s.due, key)
		return key, snapshot
	}
	s.working = false
	return usecase.ThreadKey{}, dueSnapshot{}
}

func (s *snapshotter) write(ctx context.Context, key usecase.ThreadKey, state thread.Thread) error {
	payload, err := eventcodec.EncodeSnapshot(key.Thread, state)
	if err != nil {
		return err
	}
	if err := s.snapshots.SaveSnapshot(ctx, aggregateOf(key), Snapshot{Version: state.Version(), Payload: payload}); err != nil {
		return err
	}
	s.states.remember(key, state, state.Version())
	return nil
}

// close writes what is due; when ctx ends first, it gives up the rest.
func (s *snapshotter) close(ctx context.Context) error {
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
		s.mutex.Unlock()
		return ctx.Err()
	}
}
