package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	lru "github.com/hashicorp/golang-lru/v2"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

// Settings of a gateway. Keys depend on Shards. Once there is data, only higher numbers may be added, and none removed:
// new aggregates go to the first, and aggregates that exist stay where they are. What belongs to no aggregate, and the
// receipts, stay with the lowest, so the order of the numbers may differ between programs while it is changed.
type Settings struct {
	JournalTable  string
	SnapshotTable string
	Shards        []int            // numbers of logical shards; default: 64
	SnapshotKeep  int              // number of snapshots to keep beside the latest
	SnapshotTTL   time.Duration    // how long older snapshots are kept; 0: they are deleted at once
	Clock         func() time.Time // default: time.Now
	OwnerBytes    int              // that the files of an owner in a tenant may hold; default: 256 MiB
	TenantBytes   int              // that all files of a tenant may hold; default: 4 GiB
}

// Gateway is the event store on DynamoDB. It is safe for concurrent use by any number of processes.
type Gateway struct {
	client   *dynamodb.Client
	settings Settings
	packer   *packing.Packer

	shards int        // the number of shards of aggregates
	lowest int        // that of all other items, and of receipts
	all    []*Gateway // this one, then those of the other numbers, which know only their own aggregates
	places *lru.Cache[es.AggregateID, *Gateway]
}

var _ es.Store = (*Gateway)(nil)

// New returns a gateway with the settings, or an error if they are invalid. It does not connect.
func New(client *dynamodb.Client, settings Settings) (*Gateway, error) {
	if settings.JournalTable == "" || settings.SnapshotTable == "" || settings.JournalTable == settings.SnapshotTable {
		return nil, errors.New("dynamodb gateway: set the names of the journal table and the snapshot table")
	}
	if len(settings.Shards) == 0 {
		settings.Shards = []int{64}
	}
	lowest := slices.Min(settings.Shards)
	if lowest < 1 || settings.SnapshotKeep < 0 || settings.SnapshotTTL < 0 {
		return nil, errors.New("dynamodb gateway: numbers of shards must be 1 or more, the number of snapshots and their time to live 0 or more")
	}
	if settings.Clock == nil {
		settings.Clock = time.Now
	}
	settings.OwnerBytes, settings.TenantBytes = cmp.Or(settings.OwnerBytes, 256<<20), cmp.Or(settings.TenantBytes, 4<<30)
	g := &Gateway{client: client, settings: settings, packer: packing.New(), shards: settings.Shards[0], lowest: lowest}
	g.all = []*Gateway{g}
	g.places, _ = lru.New[es.AggregateID, *Gateway](maxPlaces) // fails only for a size that is not positive
	for _, shards := range settings.Shards[1:] {
		other := *g
		other.shards, other.all = shards, []*Gateway{&other}
		g.all = append(g.all, &other)
	}
	return g, nil
}

// Now returns DynamoDB's time, to the second. It costs half a read unit.
func (g *Gateway) Now(ctx context.Context) (time.Time, error) {
	now, err := g.probe(ctx, g.settings.SnapshotTable)
	if err == nil && now.IsZero() {
		err = errors.New("dynamodb gateway: the answer has no header Date; a proxy may have removed it")
	}
	return now, err
}

// Check reports whether both tables answer.
func (g *Gateway) Check(ctx context.Context) error {
	_, err := g.probe(ctx, g.settings.JournalTable)
	if err == nil {
		_, err = g.probe(ctx, g.settings.SnapshotTable)
	}
	return err
}

// probe reads the key of an aggregate that never exists, which costs half a read unit, and returns the answer's time.
func (g *Gateway) probe(ctx context.Context, table string) (time.Time, error) {
	nobody := es.AggregateID{Type: "check", ID: "none"}
	answer, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: g.key(nobody, headSeqNr)})
	if err != nil {
		return time.Time{}, Explain(ctx, err, "read table %s", table)
	}
	now, _ := middleware.GetServerTime(answer.ResultMetadata)
	return now, nil
}
