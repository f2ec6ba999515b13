package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	stores "example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/database"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/journalcheck"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/stream"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/projection"
)

// openStation is the open event store and the tools that work on it.
type openStation struct {
	settings storeSettings
	store    *stores.Store
	checked  journalcheck.Store
	types    knownTypes
}

// open opens the event store that the environment names. Call closing to close it.
func (o *operator) open(ctx context.Context) (s *openStation, closing func(), err error) {
	settings, err := config.Read(o.getenv, readSettings)
	if err != nil {
		return nil, nil, err
	}
	return openStore(ctx, settings, settings.logging.Logger(o.stderr))
}

// withAggregate returns the action of a command about one aggregate, in the event store that the environment names.
func (o *operator) withAggregate(do func(context.Context, *cli.Command, *openStation, eventstore.AggregateID) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		id, err := aggregateOf(cmd)
		if err != nil {
			return err
		}
		s, closing, err := o.open(ctx)
		if err != nil {
			return err
		}
		defer closing()
		return do(ctx, cmd, s, id)
	}
}

func openStore(ctx context.Context, settings storeSettings, log *slog.Logger) (*openStation, func(), error) {
	store, err := stores.Open(ctx, settings.store, stores.Ports{Log: log})
	if err != nil {
		return nil, nil, err
	}
	ctx = context.WithoutCancel(ctx)
	checked, able := store.Gateway.(journalcheck.Store)
	if !able {
		return nil, nil, errors.Join(fmt.Errorf("the event store %s can't be maintained by this program", settings.store.Kind), store.Close(ctx))
	}
	types := registered(store.Gateway, log)
	return &openStation{settings, store, checked, types}, func() {
		types.close(ctx)
		_ = store.Close(ctx)
	}, nil
}

func (s *openStation) checker() *journalcheck.Checker {
	return journalcheck.New(s.checked, s.types.decoders())
}

// openReadModel opens the database of the read model.
func (o *operator) openReadModel(ctx context.Context) (settings rowSettings, db *sqlx.DB, err error) {
	if settings, err = config.Read(o.getenv, readRowSettings); err != nil {
		return settings, nil, err
	}
	db, err = database.Open(ctx, settings.databaseURL, database.Settings{Rebuildable: true, Logger: settings.logging.Logger(o.stderr)})
	if err != nil {
		return settings, nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if err := rdbmigration.Check(ctx, db, rdbmigration.ReadModel()); err != nil {
		return settings, nil, errors.Join(fmt.Errorf("DATABASE_URL: %w", err), db.Close())
	}
	return settings, db, nil
}

// rowStation is a station with the read model.
type rowStation struct {
	*openStation
	db        *sqlx.DB
	projector *projection.Projector
	rows      *projectionstore.Store
}

// openRows opens both databases. Call closing to close them.
func (o *operator) openRows(ctx context.Context) (s *rowStation, closing func(), err error) {
	settings, db, err := o.openReadModel(ctx)
	if err != nil {
		return nil, nil, err
	}
	log := settings.logging.Logger(o.stderr)
	station, closeStore, err := openStore(ctx, settings.storeSettings, log)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	closing = func() {
		closeStore()
		_ = db.Close()
	}
	rows, err := projectionstore.New(db, chatrows.Projection)
	if err != nil {
		closing()
		return nil, nil, err
	}
	// It logs nothing: what it finds is printed.
	projector := projection.New(rows, stream.NewJournalReader(station.store.Gateway), projection.Options{}, chatrows.Handlers()...)
	return &rowStation{station, db, projector, rows}, closing, nil
}
