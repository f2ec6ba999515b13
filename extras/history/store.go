// Package history shows the events of threads and accounts, and a thread as it was at any version, by the event store.
package history

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/threads/es"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/httpserver"
)

// Store returns the open event store, or why it can't be used: the program serves everything else meanwhile.
type Store = func(context.Context) (*eventstore.Store, error)

// Later returns a function that opens a store at its first use, and again after a failure, and one that closes it.
// Until the store is open, the program serves what does not need it.
func Later(open Store) (use Store, end func(context.Context) error) {
	var store *eventstore.Store
	opening := semaphore.NewWeighted(1) // guards store
	use = func(ctx context.Context) (*eventstore.Store, error) {
		err := opening.Acquire(ctx, 1)
		if err != nil {
			return nil, err
		}
		defer opening.Release(1)
		if store == nil {
			store, err = open(ctx)
		}
		return store, err
	}
	end = func(ctx context.Context) error {
		if store == nil {
			return nil
		}
		return store.Close(ctx)
	}
	return use, end
}

// Report warns when the event store can't be used, which only the queries of the history need.
func Report(open Store, log *slog.Logger) func(context.Context, *httpserver.Health) {
	return func(ctx context.Context, health *httpserver.Health) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		store, err := open(ctx)
		if err == nil {
			err = store.Check(ctx)
		}
		if err != nil {
			log.WarnContext(ctx, "the event store can't be used: queries of the history are UNAVAILABLE", "error", err)
			health.Warn("the event store can't be used, so queries of the history are UNAVAILABLE: " +
				cmp.Or(es.PublicReason(err), "the log says why"))
		}
	}
}
