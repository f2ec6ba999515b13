package eventstore

import (
	"context"
	"log/slog"

	"golang.org/x/sync/semaphore"
)

// Later is an event store that is opened when it is first needed, so that a program starts and serves everything else
// without it.
type Later struct {
	settings Settings
	log      *slog.Logger
	opening  *semaphore.Weighted // guards store
	store    *Store              // nil: not open yet
	own      bool                // Close ends it
}

// OpenLater returns a store that is not open yet.
func OpenLater(settings Settings, log *slog.Logger) *Later {
	return &Later{settings: settings, log: log, opening: semaphore.NewWeighted(1), own: true}
}

// Opened returns a store that is open already. Its owner closes it.
func Opened(store *Store) *Later { return &Later{store: store, opening: semaphore.NewWeighted(1)} }

// Store returns the open store, or why it can't be opened at this moment: the next call tries again.
func (l *Later) Store(ctx context.Context) (*Store, error) {
	if err := l.opening.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer l.opening.Release(1)
	if l.store != nil {
		return l.store, nil
	}
	store, err := Open(ctx, l.settings, Ports{Log: l.log})
	if err != nil {
		return nil, err
	}
	l.store = store
	return store, nil
}

// Close ends the store, if this has opened it.
func (l *Later) Close(ctx context.Context) error {
	if l.store == nil || !l.own {
		return nil
	}
	return l.store.Close(ctx)
}
