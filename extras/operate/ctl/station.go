package ctl

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/journalcheck"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
)

// Settings are what a program gives the commands: its settings, and how it opens its event store.
type Settings struct {
	SnapshotEvery int
	Logger        func(io.Writer) *slog.Logger
	Open          func(context.Context, *slog.Logger) (*Store, error)
	// Types are the aggregate types that the commands know.
	Types []es.AnyAggregate
	// ReadModel is the projection of the rows, and Schemas are those of its database.
	ReadModel run.ReadModel
	Schemas   []migration.Set
}

// Store is an open event store.
type Store struct {
	Kind    string
	Gateway es.Store
	// Unseal returns what opens the sealed texts in a payload; nil: none is sealed.
	Unseal func(context.Context) (func(context.Context, es.Tenant, []byte) ([]byte, error), error)
	Close  func(context.Context) error
}

// rowSettings are the settings of commands that need the read model.
type rowSettings struct {
	Settings
	databaseURL string
}

func (o *operator) readRowSettings(r *config.Reader) rowSettings {
	return rowSettings{databaseURL: stores.ReadDatabaseURL(r), Settings: o.read(r)}
}

// storeStation is the open event store and the tools that work on it.
type storeStation struct {
	settings Settings
	store    *Store
	log      *slog.Logger
	types    knownTypes
}

func openStore(ctx context.Context, settings Settings, log *slog.Logger) (*storeStation, error) {
	store, err := settings.Open(ctx, log)
	if err != nil {
		return nil, err
	}
	return &storeStation{settings, store, log, byName(settings.Types)}, nil
}

func (s *storeStation) close(ctx context.Context) {
	_ = s.store.Close(context.WithoutCancel(ctx))
}

func (s *storeStation) checker() *journalcheck.Checker {
	return journalcheck.New(s.store.Gateway, s.types.decoders())
}

// withStore returns the action of a command that needs the event store.
func (o *operator) withStore(do func(context.Context, *cli.Command, *storeStation) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		settings, err := config.Read(o.getenv, o.read)
		if err != nil {
			return err
		}
		s, err := openStore(ctx, settings, settings.Logger(o.stderr))
		if err != nil {
			return err
		}
		defer s.close(ctx)
		return do(ctx, cmd, s)
	}
}

// readModel is the open database of the read model.
type readModel struct {
	*sqlx.DB
	settings rowSettings
	log      *slog.Logger
}

// withReadModel returns the action of a command that needs the database of the read model.
func (o *operator) withReadModel(do func(context.Context, *cli.Command, readModel) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		settings, err := config.Read(o.getenv, o.readRowSettings)
		if err != nil {
			return err
		}
		log := settings.Logger(o.stderr)
		db, err := database.Open(ctx, settings.databaseURL, database.Settings{Rebuildable: true, Logger: log})
		if err != nil {
			return fmt.Errorf("DATABASE_URL: %w", err)
		}
		defer func() { _ = db.Close() }()
		if err := migration.Check(ctx, db, settings.Schemas...); err != nil {
			return fmt.Errorf("DATABASE_URL: %w", err)
		}
		return do(ctx, cmd, readModel{db, settings, log})
	}
}

// rowStation is a station with the read model.
type rowStation struct {
	*storeStation
	db        readModel
	projector *projection.Projector
	rows      *rowstore.Store
}

// withRows returns the action of a command that needs both databases.
func (o *operator) withRows(do func(context.Context, *cli.Command, *rowStation) error) cli.ActionFunc {
	return o.withReadModel(func(ctx context.Context, cmd *cli.Command, db readModel) error {
		s, err := openStore(ctx, db.settings.Settings, db.log)
		if err != nil {
			return err
		}
		defer s.close(ctx)
		rows, err := rowstore.New(db.DB, s.settings.ReadModel.Name)
		if err != nil {
			return err
		}
		// It logs nothing: what it finds is printed.
		projector := projection.New(rows, projection.NewJournalReader(s.store.Gateway), projection.Options{}, s.settings.ReadModel.Handlers...)
		return do(ctx, cmd, &rowStation{s, db, projector, rows})
	})
}
