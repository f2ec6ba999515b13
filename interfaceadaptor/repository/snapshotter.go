package repository

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

const (
	snapshotTimeout = 30 * time.Second
	// maxDue bounds the threads that wait for a snapshot. One that finds no place is due again at its next event.
	maxDue = 1000
)

// snapshotter writes snapshots off the commands' path: one after the other, by a goroutine that is there while there
// is something to write. A snapshot that could not be written is due again at the thread's next event.
type snapshotter struct {
	snapshots eventstore.Snapshots
	states    *stateCache
	every     uint64
	logger    *slog.Logger

	mutex   sync.Mutex
	due     map[usecase.Key]dueSnapshot
	working bool
	cancel  context.CancelFunc // gives up the one that is being written
	closed  bool
	running sync.WaitGroup
}

type dueSnapshot struct {
	ctx   context.Context // carries what the log tells about the command; does not end with it
	state thread.Thread
}

func newSnapshotter(snapshots eventstore.Snapshots, states *stateCache, settings Settings) *snapshotter {
	return &snapshotter{
		snapshots: snapshots,
		states:    states,
		every:     settings.SnapshotEvery,
		logger:    settings.Logger,
		due:       map[usecase.Key]dueSnapshot{},
		cancel:    func() {},
	}
}

// saved tells the snapshotter that a thread has moved on.
func (s *snapshotter) saved(ctx context.Context, key usecase.Key, thread remembered) {
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
	for key, due, found := s.next(); found; key, due, found = s.next() {
		// While a thread waited here, a snapshot of it may have been written.
		if known, found := s.states.get(key); found && !s.isDue(remembered{due.state, known.snapshotVersion}) {
			continue
		}
		if err := s.write(due.ctx, key, due.state); err != nil {
			s.logger.WarnContext(due.ctx, "a snapshot could not be written; the thread's next event tries again",
				"thread", chat.ThreadID(key), "version", due.state.Version(), "error", err)
		}
	}
}

// next takes any snapshot that is due, with a context that ends when its time is over or close gives it up.
func (s *snapshotter) next() (usecase.Key, dueSnapshot, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cancel() // the one before is done with
	for key, due := range s.due {
		delete(s.due, key)
		due.ctx, s.cancel = context.WithTimeout(due.ctx, snapshotTimeout)
		return key, due, true
	}
	s.working = false
	return usecase.Key{}, dueSnapshot{}, false
}

func (s *snapshotter) write(ctx context.Context, key usecase.Key, state thread.Thread) error {
	payload, err := eventcodec.EncodeSnapshot(chat.ThreadID(key), state)
	if err != nil {
		return err
	}
	if err := s.snapshots.SaveSnapshot(ctx, aggregateOf(key), eventstore.Snapshot{Version: state.Version(), Payload: payload}); err != nil {
		return err
	}
	s.states.remember(key, state, state.Version())
	return nil
}

// close writes what is due; when ctx ends first, it gives up the rest. Nothing is being written any more when it returns.
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
		s.cancel()
		s.mutex.Unlock()
		<-done
		return ctx.Err()
	}
}
