package updater

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// follower brings events into the read model. It begins when its databases are there.
type follower struct {
	settings Settings
	ports    Ports
	registry prometheus.Registerer
	outcomes *outcomes
	parts    atomic.Pointer[parts] // nil until the databases are there
}

// parts are what the databases are needed for.
type parts struct {
	store  *projectionstore.Store
	source eventstore.Source
}

const (
	parkedEvery = time.Second     // between two looks for parked threads whose time has come
	openEvery   = 2 * time.Second // between two attempts to open the databases
)

// run works until ctx ends and the batches in hand are stored.
func (f *follower) run(ctx context.Context) error {
	databases, err := f.open(ctx)
	if err != nil {
		return nil // stopped before there was anything to do
	}
	defer databases.Close()
	store, err := projectionstore.New(databases.ReadModel)
	if err != nil {
		return err
	}
	journal := repository.NewJournalReader(databases.Store.Gateway)
	projector := measured{projection.New(store, journal, projection.Options{Logger: f.ports.Log, Notify: f.ports.Notify}), f.outcomes}
	source, err := databases.Store.Source(projector, store, f.settings.Source)
	if err != nil {
		return err
	}
	registerCounters(f.registry, source)
	f.parts.Store(&parts{store: store, source: source})

	var background sync.WaitGroup
	background.Go(func() { f.retryParked(ctx, projector) })
	source.Run(ctx)
	background.Wait()
	return nil
}

// open waits for the databases and their schemas. It fails only when ctx ends.
func (f *follower) open(ctx context.Context) (Databases, error) {
	for {
		databases, err := f.ports.Open(ctx)
		if err == nil {
			return databases, nil
		}
		if ctx.Err() != nil {
			return Databases{}, ctx.Err()
		}
		f.ports.Log.WarnContext(ctx, "waiting for the databases of events and read model", "error", err)
		if !stream.Pause(ctx, openEvery) {
			return Databases{}, ctx.Err()
		}
	}
}

// retryParked gives parked threads another try when their time has come.
func (f *follower) retryParked(ctx context.Context, projector measured) {
	for stream.Pause(ctx, parkedEvery) {
		if err := projector.retryParked(ctx); err != nil && ctx.Err() == nil {
			f.ports.Log.WarnContext(ctx, "parked threads could not be tried again; next try in a moment", "error", err)
		}
	}
}
