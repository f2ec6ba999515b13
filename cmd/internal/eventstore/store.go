package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlqueue"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/config/stores"
)

// Store is an open event store. [Store.Close] ends it.
type Store struct {
	Gateway es.Store
	// Check returns why the store cannot be used, for /health/ready.
	Check func(context.Context) error
	// Trouble returns the part of Check that costs nothing while all is well: a full disk or damaged data that was met.
	// DynamoDB has neither.
	Trouble func(context.Context) error
	// Skew compares this computer's clock with the store's; nil for SQLite, which runs on this computer's clock.
	Skew *es.ClockWatch
	// Metrics are those of the store: consumed capacity or connections.
	Metrics []prometheus.Collector

	// Source returns a source of the store's changes. Sources of one store share the readers of its stream. No argument
	// is called before Run.
	Source func(projection.Sink, projection.Checkpoints, SourceSettings) (run.Source, error)
	// Close completes the accepted writes, until ctx ends.
	Close func(context.Context) error

	DB     *sqlx.DB // of a relational store
	Client any      // of a store on DynamoDB: the AWS SDK's client, which not every program links
}

// Ports are what a store needs from its program.
type Ports struct {
	Log *slog.Logger
	// Tracer, if not nil, traces the statements of a relational store.
	Tracer trace.TracerProvider
	// OnAppend, if not nil, is called when this process has added entries. Not all stores support it. It must not
	// block.
	OnAppend func()
}

// Open connects to a relational store. The package dynamo opens every kind.
func Open(ctx context.Context, settings Settings, ports Ports) (*Store, error) {
	db, err := database.Open(ctx, settings.URL, database.Settings{Tracer: ports.Tracer, Logger: ports.Log})
	if err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	if err := migration.Check(ctx, db, sqlstore.Schema()); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	gateway, err := sqlstore.New(db, sqlstore.Settings{
		SnapshotKeep: settings.SnapshotKeep, Clock: time.Now, Logger: ports.Log, OnAppend: ports.OnAppend,
	})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	store := &Store{
		Gateway: gateway,
		Check: func(ctx context.Context) error {
			return errors.Join(gateway.Check(ctx), migration.Ready(ctx, db, sqlstore.Schema()))
		},
		Trouble: gateway.Check,
		Metrics: []prometheus.Collector{collectors.NewDBStatsCollector(db.DB, "event_store")},
		Source: func(projector projection.Sink, checkpoints projection.Checkpoints, polls SourceSettings) (run.Source, error) {
			queue, err := sqlstore.NewQueue(db)
			if err != nil {
				return nil, err
			}
			return sqlqueue.New(
				sqlqueue.Ports{Queue: queue, Projector: projector, Checkpoints: checkpoints, Log: ports.Log},
				sqlqueue.Settings{PollMin: polls.PollMin, PollMax: polls.PollMax},
			), nil
		},
		Close: func(ctx context.Context) error {
			defer func() { _ = db.Close() }()
			return gateway.Close(ctx)
		},
		DB: db,
	}
	if settings.Kind == stores.MySQL {
		store.Skew = settings.CompareWith(func(ctx context.Context) (time.Time, error) { return database.ServerTime(ctx, db) })
	}
	return store, nil
}

// CompareWith returns a watch that compares this computer's clock with another.
func (s Settings) CompareWith(other func(context.Context) (time.Time, error)) *es.ClockWatch {
	clock := s.Clock
	if clock == nil {
		clock = time.Now
	}
	return &es.ClockWatch{Clock: clock, Other: other, Tolerance: s.ClockTolerance}
}

// CheckClock returns an error while this computer's clock differs too much from the store's.
func (s *Store) CheckClock(ctx context.Context) error {
	if s.Skew == nil {
		return nil
	}
	return s.Skew.Check(ctx)
}

// SQL returns the database of a relational store; nil: the store is on DynamoDB.
func (s *Store) SQL() *sqlx.DB { return s.DB }

// DynamoDB returns the AWS SDK's client of a store on DynamoDB, otherwise nil.
func (s *Store) DynamoDB() any { return s.Client }
