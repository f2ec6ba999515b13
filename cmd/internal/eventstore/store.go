package eventstore

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/database"
	"example.com/threads/infrastructure/skew"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/interfaceadaptor/gateway/sqlstore"
	dynamokeys "example.com/threads/interfaceadaptor/keystore/dynamodb"
	relationalkeys "example.com/threads/interfaceadaptor/keystore/relational"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/erasure"
)

// Store is an open event store. [Store.Close] ends it.
type Store struct {
	Gateway eventstore.EventPersistenceGateway
	// Check returns why the store cannot be used, for /health/ready.
	Check func(context.Context) error
	// Skew compares this computer's clock with the store's; nil for SQLite, which has no other.
	Skew *skew.Watch

	settings Settings
	log      *slog.Logger
	close    func(context.Context) error
	aws      aws.Config // of DynamoDB
	streams  dynamodbstreams.Streams
	db       *sqlx.DB // of the others
}

// Open connects to the store. onAppend, if not nil, is called when this process has added entries, if the store
// supports that; it must not block.
func Open(ctx context.Context, settings Settings, log *slog.Logger, onAppend func()) (*Store, error) {
	if settings.Kind == stores.DynamoDB {
		return openDynamoDB(ctx, settings, log)
	}
	return openRelational(ctx, settings, log, onAppend)
}

func openDynamoDB(ctx context.Context, settings Settings, log *slog.Logger) (*Store, error) {
	config, err := awsclient.Load(ctx)
	if err != nil {
		return nil, err
	}
	gateway, err := dynamodb.New(awsclient.DynamoDB(config), dynamodb.Settings{
		JournalTable:  settings.JournalTable,
		SnapshotTable: settings.SnapshotTable,
		Shards:        settings.Shards,
		SnapshotKeep:  settings.SnapshotKeep,
		SnapshotTTL:   settings.SnapshotTTL,
		Clock:         time.Now,
	}, log)
	if err != nil {
		return nil, err
	}
	return &Store{
		Gateway:  gateway,
		Check:    gateway.Check,
		Skew:     settings.compareWith(gateway.Now),
		settings: settings,
		log:      log,
		close:    func(context.Context) error { return nil },
		aws:      config,
		streams:  dynamodbstreams.Share(awsclient.Streams(config)),
	}, nil
}

func openRelational(ctx context.Context, settings Settings, log *slog.Logger, onAppend func()) (*Store, error) {
	db, err := database.Open(ctx, settings.URL, database.Settings{Logger: log})
	if err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	if err := rdbmigration.Check(ctx, db, rdbmigration.EventStore()); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	gateway, err := sqlstore.New(db, sqlstore.Settings{
		SnapshotKeep: settings.SnapshotKeep, Clock: time.Now, Logger: log, OnAppend: onAppend,
	})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	store := &Store{
		Gateway:  gateway,
		Check:    func(ctx context.Context) error { return rdbmigration.Ready(ctx, db, rdbmigration.EventStore()) },
		settings: settings,
		log:      log,
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

// compareWith compares this computer's clock with another one.
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

// Keys returns the store of people's keys that is beside the event store.
func (s *Store) Keys(table string) (erasure.Store, error) {
	if s.settings.Kind == stores.DynamoDB {
		return dynamokeys.New(awsclient.DynamoDB(s.aws), table), nil
	}
	return relationalkeys.New(s.db)
}

// Close completes the accepted writes, until ctx ends.
func (s *Store) Close(ctx context.Context) error { return s.close(ctx) }
