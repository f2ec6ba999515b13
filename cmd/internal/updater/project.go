package updater

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase/projection"
)

// updater is the program's work. It becomes ready when its databases are there.
type updater struct {
	settings Settings
	ports    Ports
	log      *slog.Logger
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
func (u *updater) run(ctx context.Context) {
	databases, opened := u.open(ctx)
	if !opened {
		return
	}
	defer databases.Close()
	store, err := projectionstore.New(databases.ReadModel)
	if err != nil { // a driver that database.Open does not open
		u.log.ErrorContext(ctx, "the database can't hold the read model", "error", err)
		return
	}
	journal := repository.NewJournalReader(databases.Store.Gateway)
	projector := measured{projection.New(store, journal, projection.Options{Logger: u.log, Notify: u.ports.Notify}), u.outcomes}
	source, err := databases.Store.Source(projector, store, u.settings.Source)
	if err != nil { // the same, of the event store
		u.log.ErrorContext(ctx, "the event store can't be followed", "error", err)
		return
	}
	registerCounters(u.registry, source)
	u.parts.Store(&parts{store: store, source: source})

	var background sync.WaitGroup
	background.Go(func() { u.retryParked(ctx, projector) })
	source.Run(ctx)
	background.Wait()
}

// open waits for the databases and their schemas. It is false when ctx has ended first.
func (u *updater) open(ctx context.Context) (Databases, bool) {
	for {
		databases, err := u.ports.Open(ctx)
		if err == nil {
			return databases, true
		}
		if ctx.Err() != nil {
			return Databases{}, false
		}
		u.log.WarnContext(ctx, "waiting for the databases of events and read model", "error", err)
		if !pause(ctx, openEvery) {
			return Databases{}, false
		}
	}
}

// retryParked gives parked threads another try when their time has come.
func (u *updater) retryParked(ctx context.Context, projector measured) {
	for pause(ctx, parkedEvery) {
		if err := projector.retryParked(ctx); err != nil && ctx.Err() == nil {
			u.log.WarnContext(ctx, "parked threads could not be tried again; next try in a moment", "error", err)
		}
	}
}

// pause waits, and tells whether ctx is still alive.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
