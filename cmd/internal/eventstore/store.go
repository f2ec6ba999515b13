package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/migration"
	"example.com/threads/es/skew"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/awsclient"
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
	Skew *skew.Watch
	// Metrics are those of the store: consumed capacity or connections.
	Metrics []prometheus.Collector

	settings Settings
	ports    Ports
	close    func(context.Context) error
	aws      *awsdynamodb.Client     // DynamoDB only
	streams  dynamodbstreams.Streams // DynamoDB only
	places   dynamodbstreams.Places  // DynamoDB only
	db       *sqlx.DB                // relational stores only
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

// Open connects to the store.
func Open(ctx context.Context, settings Settings, ports Ports) (*Store, error) {
	if settings.Kind == stores.DynamoDB {
		return openDynamoDB(ctx, settings, ports)
	}
	return openRelational(ctx, settings, ports)
}

func openDynamoDB(ctx context.Context, settings Settings, ports Ports) (*Store, error) {
	config, err := awsclient.Load(ctx)
	if err != nil {
		return nil, err
	}
	consumed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dynamodb_consumed_capacity_units_total",
		Help: "Read and write units that answered calls took, by table, index (empty: the table itself) and operation.",
	}, []string{"table", "index", "operation"})
	client := awsclient.DynamoDB(config, awsclient.CountCapacity(func(c awsclient.Consumed) {
		consumed.WithLabelValues(c.Table, c.Index, c.Operation).Add(c.Units)
	}))
	gateway, err := dynamodb.New(client, dynamodb.Settings{
		JournalTable:  settings.JournalTable,
		SnapshotTable: settings.SnapshotTable,
		Shards:        settings.Shards,
		SnapshotKeep:  settings.SnapshotKeep,
		SnapshotTTL:   settings.SnapshotTTL,
		Clock:         time.Now,
	}, ports.Log)
	if err != nil {
		return nil, err
	}
	return &Store{
		Gateway:  gateway,
		Check:    gateway.Check,
		Trouble:  func(context.Context) error { return nil },
		Skew:     settings.compareWith(gateway.Now),
		Metrics:  []prometheus.Collector{consumed},
		settings: settings,
		ports:    ports,
		close:    func(context.Context) error { return nil },
		aws:      client,
		streams:  dynamodbstreams.Share(awsclient.Streams(config)),
		places:   gateway,
	}, nil
}

func openRelational(ctx context.Context, settings Settings, ports Ports) (*Store, error) {
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
		Trouble:  gateway.Check,
		Metrics:  []prometheus.Collector{collectors.NewDBStatsCollector(db.DB, "event_store")},
		settings: settings,
		ports:    ports,
		close: func(ctx context.Context) error {
			defer func() { _ = db.Close() }()
			return gateway.Close(ctx)
		},
		db: db,
	}
	if settings.Kind == stores.MySQL {
		store.Skew = settings.compareWith(func(ctx context.Context) (time.Time, error) { return database.ServerTime(ctx, db) })
	}
	return store, nil
}

// compareWith returns a watch that compares this computer's clock with another.
func (s Settings) compareWith(other func(context.Context) (time.Time, error)) *skew.Watch {
	clock := s.Clock
	if clock == nil {
		clock = time.Now
	}
	return &skew.Watch{Clock: clock, Other: other, Tolerance: s.ClockTolerance}
}

// CheckClock returns an error while this computer's clock differs too much from the store's.
func (s *Store) CheckClock(ctx context.Context) error {
	if s.Skew == nil {
		return nil
	}
	return s.Skew.Check(ctx)
}

// SQL returns the database of a relational store; nil: the store is on DynamoDB.
func (s *Store) SQL() *sqlx.DB { return s.db }

// DynamoDB returns the client of a store on DynamoDB, otherwise nil.
func (s *Store) DynamoDB() *awsdynamodb.Client { return s.aws }

// Close completes the accepted writes, until ctx ends.
func (s *Store) Close(ctx context.Context) error { return s.close(ctx) }
