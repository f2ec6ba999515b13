package eventstore

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Later is an event store that is opened at the first use. Until then, and while the store is down, the program serves
// everything else.
type Later struct {
	open    func(context.Context) (*Store, error)
	opening *semaphore.Weighted // guards store
	store   *Store              // nil: not opened yet
	own     bool                // Close closes store
}

// OpenLater returns a store that open opens at the first use.
func OpenLater(open func(context.Context) (*Store, error)) *Later {
	return &Later{open: open, opening: semaphore.NewWeighted(1), own: true}
}

// Opened returns a Later over an open store. The caller closes the store.
func Opened(store *Store) *Later { return &Later{store: store, opening: semaphore.NewWeighted(1)} }

// Store returns the open store, or the error of opening it. The next call tries again.
func (l *Later) Store(ctx context.Context) (*Store, error) {
	if err := l.opening.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer l.opening.Release(1)
	if l.store != nil {
		return l.store, nil
	}
	store, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.store = store
	return store, nil
}

// Close closes the store if Later opened it.
func (l *Later) Close(ctx context.Context) error {
	if l.store == nil || !l.own {
		return nil
	}
	return l.store.Close(ctx)
}
