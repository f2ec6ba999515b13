package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/gateway/internal/once"
	"example.com/threads/interfaceadaptor/gateway/internal/packing"
)

// DefaultShards is the number of logical shards unless set.
const DefaultShards = 64

// Settings of a gateway. Shards must never change once there is data: keys are made from it.
type Settings struct {
	JournalTable  string
	SnapshotTable string
	Shards        int           // logical shards; 0: DefaultShards
	SnapshotKeep  int           // how many snapshots to keep beside the latest
	SnapshotTTL   time.Duration // how long those beyond that live on; 0: they are deleted at once
	Clock         func() time.Time
}

// Gateway is the EventPersistenceGateway on DynamoDB. It is safe for concurrent use; any number of processes may work
// on the same tables.
type Gateway struct {
	client   *dynamodb.Client
	settings Settings
	shards   uint64
	logger   *slog.Logger
	packer   *packing.Packer
	said     once.Set
}

var _ eventstore.EventPersistenceGateway = (*Gateway)(nil)

// New checks the settings. It connects to nothing.
func New(client *dynamodb.Client, settings Settings, logger *slog.Logger) (*Gateway, error) {
	switch {
	case settings.JournalTable == "" || settings.SnapshotTable == "" || settings.JournalTable == settings.SnapshotTable:
		return nil, errors.New("dynamodb gateway: the journal and the snapshots need a table each")
	case settings.Shards < 0 || settings.SnapshotKeep < 0 || settings.SnapshotTTL < 0:
		return nil, errors.New("dynamodb gateway: shards, kept snapshots and their time to live can't be negative")
	case settings.Clock == nil:
		return nil, errors.New("dynamodb gateway: a clock is needed")
	}
	shards := settings.Shards
	if shards == 0 {
		shards = DefaultShards
	}
	packer, err := packing.New()
	if err != nil {
		return nil, fmt.Errorf("dynamodb gateway: %w", err)
	}
	return &Gateway{
		client: client, settings: settings, shards: uint64(shards), logger: logger, packer: packer,
	}, nil
}

// Check tells whether both tables answer. It reads an item of each that nobody writes, at half a read unit a table.
func (g *Gateway) Check(ctx context.Context) error {
	nobody := eventstore.AggregateID{Type: "check", ULID: "none"}
	for _, table := range []string{g.settings.JournalTable, g.settings.SnapshotTable} {
		_, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: g.key(nobody, headSeqNr)})
		if err != nil {
			return explainf(ctx, err, "read table %s", table)
		}
	}
	return nil
}
