package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
	"example.com/threads/es/internal/once"
	"example.com/threads/es/internal/packing"
)

// DefaultShards is the default number of logical shards.
const DefaultShards = 64

// Settings of a gateway. Shards must never change once there is data, because keys depend on it.
type Settings struct {
	JournalTable  string
	SnapshotTable string
	Shards        int           // logical shards; 0: DefaultShards
	SnapshotKeep  int           // number of snapshots to keep beside the latest
	SnapshotTTL   time.Duration // how long older snapshots are kept; 0: they are deleted at once
	Clock         func() time.Time
	Spool         es.SpoolLimits
}

// Gateway is the EventPersistenceGateway on DynamoDB. It is safe for concurrent use, and any number of processes may
// use the same tables.
type Gateway struct {
	client   *dynamodb.Client
	settings Settings
	shards   uint64
	logger   *slog.Logger
	packer   *packing.Packer
	said     once.Set
}

var _ es.Store = (*Gateway)(nil)

// New returns a gateway with the settings, or an error if they are invalid. It does not connect.
func New(client *dynamodb.Client, settings Settings, logger *slog.Logger) (*Gateway, error) {
	switch {
	case settings.JournalTable == "" || settings.SnapshotTable == "" || settings.JournalTable == settings.SnapshotTable:
		return nil, errors.New("dynamodb gateway: set the names of the journal table and the snapshot table")
	case settings.Shards < 0 || settings.SnapshotKeep < 0 || settings.SnapshotTTL < 0:
		return nil, errors.New("dynamodb gateway: the number of shards, the number of snapshots and their time to live must not be negative")
	case settings.Clock == nil:
		return nil, errors.New("dynamodb gateway: set a clock")
	}
	packer, err := packing.New()
	if err != nil {
		return nil, fmt.Errorf("dynamodb gateway: %w", err)
	}
	return &Gateway{
		client: client, settings: settings, shards: uint64(cmp.Or(settings.Shards, DefaultShards)), logger: logger, packer: packer,
	}, nil
}

// Now returns DynamoDB's time, to the second. It costs half a read unit.
func (g *Gateway) Now(ctx context.Context) (time.Time, error) {
	answer, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(g.settings.SnapshotTable), Key: g.key(nobody, headSeqNr)})
	if err != nil {
		return time.Time{}, explain(ctx, err, "read the time of table %s", g.settings.SnapshotTable)
	}
	now, ok := middleware.GetServerTime(answer.ResultMetadata)
	if !ok {
		return time.Time{}, errors.New("dynamodb gateway: the answer has no header Date; a proxy may have removed it")
	}
	return now, nil
}

// nobody is the id of an aggregate that never exists.
var nobody = es.AggregateID{Type: "check", ID: "none"}

// Check reports whether both tables answer. It reads a key of each that is never written, which costs half a read unit
// per table.
func (g *Gateway) Check(ctx context.Context) error {
	for _, table := range []string{g.settings.JournalTable, g.settings.SnapshotTable} {
		_, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: g.key(nobody, headSeqNr)})
		if err != nil {
			return explain(ctx, err, "read table %s", table)
		}
	}
	return nil
}
