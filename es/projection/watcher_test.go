package projection_test

import (
	"context"
	"errors"
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
	watcher.Wake([]projection.Head{{Key: key, Version: 2}, {Key: foreign, Version: 9}})
	stillWaiting()
	watcher.Wake([]projection.Head{{Key: key, Version: 3}})
	if err := <-woken; err != nil {
		t.Error(err)
	}
}
