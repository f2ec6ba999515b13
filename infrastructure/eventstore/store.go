// Package eventstore opens the event store that EVENT_STORE selects and its source of changes for the projection. It
// hides the differences between the stores from the programs, which only see a gateway and a source. [Open] knows the
// relational stores, and the package dynamo all.
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
	"example.com/threads/es/sqlstore"
)

// Store is an open event store. [Store.Close] ends it.
type Store struct {
	Gateway es.Store
	// Check returns why the store cannot be used, for /health/ready.
	Check func(context.Context) error
	// Trouble returns the part of Check that costs nothing while all is well: a full disk or damaged data that was met.
	Trouble func(context.Context) error
	// CheckClock returns an error while this computer's clock differs too much from the store's. SQLite runs on this
	// computer's clock.
	CheckClock func(context.Context) error
	// Metrics are those of the store: connections, and the difference of the clocks.
	Metrics []prometheus.Collector
	// Source returns a source of the store's changes. Sources of one store share the readers of its stream. No argument
	// is called before Run.
	Source func(projection.Sink, projection.Checkpoints, Polls) (run.Source, error)
	// Close completes the accepted writes, until ctx ends.
	Close func(context.Context) error

	SQL      *sqlx.DB // the database of a relational store
	DynamoDB any      // the *dynamodb.Client of a store on DynamoDB, which not every program links
}

// Ports are what a store needs from its program.
type Ports struct {
	Log *slog.Logger
	// Tracer, if not nil, traces the statements of a relational store.
	Tracer trace.TracerProvider
}

// Open connects to a relational store, and checks its schema.
func Open(ctx context.Context, settings Settings, ports Ports) (*Store, error) {
	db, err := database.Open(ctx, settings.URL, database.Settings{MustExist: true, Tracer: ports.Tracer, Logger: ports.Log})
	if err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	if err := migration.Check(ctx, db, sqlstore.Schema()); err != nil {
		return nil, errors.Join(fmt.Errorf("EVENT_STORE_URL: %w", err), db.Close())
	}
	gateway, err := sqlstore.New(db, sqlstore.Settings{SnapshotKeep: settings.SnapshotKeep})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	store := &Store{
		Gateway: gateway,
		Check: func(ctx context.Context) error {
			return errors.Join(gateway.Check(ctx), migration.Ready(ctx, db, sqlstore.Schema()))
		},
		Trouble:    gateway.Check,
		CheckClock: func(context.Context) error { return nil },
		Metrics:    []prometheus.Collector{collectors.NewDBStatsCollector(db.DB, "event_store")},
		Source: func(projector projection.Sink, checkpoints projection.Checkpoints, polls Polls) (run.Source, error) {
			return gateway.NewSource(projector, checkpoints, ports.Log, sqlstore.SourceSettings{PollMin: polls.Min, PollMax: polls.Max, Gather: polls.Min}), nil
		},
		Close: func(ctx context.Context) error {
			defer func() { _ = db.Close() }()
			return gateway.Close(ctx)
		},
		SQL: db,
	}
	if settings.Kind == MySQL {
		store.Watch(settings, func(ctx context.Context) (now time.Time, err error) {
			err = db.GetContext(ctx, &now, "SELECT UTC_TIMESTAMP(6)")
			return now, err
		})
	}
	return store, nil
}

// Watch compares this computer's clock with another, for CheckClock and a metric.
func (s *Store) Watch(settings Settings, other func(context.Context) (time.Time, error)) {
	watch := &es.ClockWatch{Clock: settings.Clock, Other: other, Tolerance: settings.ClockTolerance}
	if watch.Clock == nil {
		watch.Clock = time.Now
	}
	s.CheckClock = watch.Check
	s.Metrics = append(s.Metrics, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "clock_ahead_seconds",
		Help: "How far this computer's clock was ahead of the event store's when they were last compared; negative: behind.",
	}, func() float64 { return watch.Ahead().Seconds() }))
}
