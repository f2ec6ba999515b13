package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/database"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/projection"
)

// updater is the program's work. It becomes ready when its database is there.
type updater struct {
	settings settings
	log      *slog.Logger
	journal  projection.Journal
	tables   dynamodbstreams.Tables
	streams  dynamodbstreams.Streams
	outcomes *outcomes
	parts    atomic.Pointer[parts] // nil until the database is there
}

// parts are what the database is needed for.
type parts struct {
	store  *projectionstore.Store
	source *dynamodbstreams.Source
}

const (
	parkedEvery = time.Second     // between two looks for parked threads whose time has come
	openEvery   = 2 * time.Second // between two attempts to open the database
	spareConns  = 8               // beside one for each shard: for repairs, retries and health
)

// run works until ctx ends and the batches in hand are stored.
func (u *updater) run(ctx context.Context) {
	db := u.open(ctx)
	if db == nil {
		return
	}
	defer func() { _ = db.Close() }()
	store, err := projectionstore.New(db)
	if err != nil { // a driver that database.Open does not open
		u.log.ErrorContext(ctx, "the database can't hold the read model", "error", err)
		return
	}
	projector := measured{projection.New(store, u.journal, projection.Options{Logger: u.log}), u.outcomes}
	source := dynamodbstreams.New(u.settings.gateway.JournalTable, dynamodbstreams.Ports{
		Tables: u.tables, Streams: u.streams, Projector: projector, Checkpoints: store, Log: u.log,
	}, u.settings.stream)
	u.parts.Store(&parts{store: store, source: source})

	var background sync.WaitGroup
	background.Go(func() { u.retryParked(ctx, projector) })
	source.Run(ctx)
	background.Wait()
}

// open waits for the database and its schema. It returns nil when ctx has ended.
func (u *updater) open(ctx context.Context) *sqlx.DB {
	for {
		db, err := database.Open(ctx, u.settings.databaseURL, database.Settings{
			MaxConns: u.settings.stream.Concurrency + spareConns, Rebuildable: true, Logger: u.log,
		})
		if err == nil {
			if err = rdbmigration.Check(ctx, db, rdbmigration.ReadModel()); err == nil {
				return db
			}
			_ = db.Close()
		}
		if ctx.Err() != nil {
			return nil
		}
		u.log.WarnContext(ctx, "waiting for the read model's database (DATABASE_URL)", "error", err)
		if !pause(ctx, openEvery) {
			return nil
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
