package readapi

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/usecase/query"
)

// journal is the event store for queries.
type journal struct {
	store *eventstore.Later
	log   *slog.Logger

	mu  sync.Mutex
	now query.Journals // empty: not used yet
}

// journals returns what is read from the journal, or [es.ErrUnavailable] while the store can't be opened.
func (j *journal) journals(ctx context.Context) (query.Journals, error) {
	store, err := j.store.Store(ctx)
	if err != nil {
		return query.Journals{}, fmt.Errorf("%w: open the event store: %w", es.ErrUnavailable, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now.Threads == nil {
		j.now = query.Journals{
			Threads:  es.NewRepository(chatstore.Threads(), store.Gateway, es.Settings{CacheBytes: memory.Limit() / 10, Logger: j.log}),
			Accounts: es.NewRepository(chatstore.Accounts(), store.Gateway, es.Settings{CacheBytes: 1 << 20, Logger: j.log}),
		}
	}
	return j.now, nil
}

// check returns the error of opening the event store.
func (j *journal) check(ctx context.Context) error {
	store, err := j.store.Store(ctx)
	if err != nil {
		return err
	}
	return store.Check(ctx)
}
