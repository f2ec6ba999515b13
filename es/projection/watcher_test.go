package projection_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

func TestWakeTellsWhatTheRowsDoNotShowYet(t *testing.T) {
	var looks atomic.Int64
	watcher := projection.NewWatcher(func(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error) {
		looks.Add(1)
		return nil, nil
	}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(ctx) })
	defer running.Wait()
	defer stop()
	key := es.AggregateID{Tenant: "acme", Type: "notebook", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"}
	woken := make(chan error, 1)
	go func() { woken <- watcher.Await(t.Context(), map[es.AggregateID]uint64{key: 3}) }()
	stillWaiting := func() { // the watcher polls while a caller waits
		seen := looks.Load()
		testenv.Eventually(t, 5*time.Second, func() error {
			if looks.Load() < seen+3 {
				return errors.New("nobody waits")
			}
			return nil
		})
	}
	stillWaiting()
	foreign := es.AggregateID{Type: key.Type, ID: key.ID} // the same id in another tenant
	watcher.Wake([]projection.AtVersion{{Key: key, Version: 2}, {Key: foreign, Version: 9}})
	stillWaiting()
	watcher.Wake([]projection.AtVersion{{Key: key, Version: 3}})
	if err := <-woken; err != nil {
		t.Error(err)
	}
}

// However many aggregates callers wait for, one read takes a bounded time: a slow one would end all waits.
func TestManyWaitsAreReadInParts(t *testing.T) {
	const waits, most = 2500, 1000
	var largest atomic.Int64
	watcher := projection.NewWatcher(func(_ context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
		largest.Store(max(largest.Load(), int64(len(keys))))
		versions := map[es.AggregateID]uint64{}
		for _, key := range keys {
			versions[key] = 1
		}
		return versions, nil
	}, slog.New(slog.DiscardHandler))
	least := map[es.AggregateID]uint64{}
	for i := range waits {
		least[es.AggregateID{Type: "notebook", ID: fmt.Sprint(i)}] = 1
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(ctx) })
	if err := watcher.Await(t.Context(), least); err != nil {
		t.Error(err)
	}
	stop()
	running.Wait()
	if largest.Load() > most {
		t.Errorf("a read is about %d aggregates", largest.Load())
	}
}
