package readapi

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/memory"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// journal is the event store for queries.
type journal struct {
	store *eventstore.Later
	log   *slog.Logger

	mu      sync.Mutex
	threads *chatstore.ThreadRepository // nil: not used yet
}

// threadsNow returns the threads in the journal, or [usecase.ErrUnavailable] while the store can't be opened.
func (j *journal) threadsNow(ctx context.Context) (query.ThreadJournal, error) {
	store, err := j.store.Store(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: open the event store: %w", usecase.ErrUnavailable, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.threads == nil {
		j.threads = chatstore.NewThreadHistory(store.Gateway, repository.Settings{CacheBytes: memory.Limit() / 10, Logger: j.log})
	}
	return j.threads, nil
}

// check returns the error of opening the event store.
func (j *journal) check(ctx context.Context) error {
	store, err := j.store.Store(ctx)
	if err != nil {
		return err
	}
	return store.Check(ctx)
}
