package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	if len(settings.Shards) > maxChanges-es.MaxAppend {
		return nil, fmt.Errorf("dynamodb gateway: %d numbers of shards are more than %d", len(settings.Shards), maxChanges-es.MaxAppend)
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

// maxPlaces limits the aggregates whose place is remembered, to some 15 MB.
const maxPlaces = 1 << 16

// at returns the gateway of the number of shards under which the aggregate exists; g if it does not exist.
func (g *Gateway) at(ctx context.Context, id es.AggregateID) (*Gateway, error) {
	if len(g.all) == 1 {
		return g, nil
	}
	if known, found := g.places.Get(id); found {
		return known, nil
	}
	for _, each := range g.all {
		var first []map[string]types.AttributeValue
		head, err := each.getItem(ctx, g.settings.SnapshotTable, each.key(id, headSeqNr), "pkey")
		if err == nil && len(head) == 0 && each != g { // the head may be lost
			first, err = GetItems(ctx, g.client, g.settings.JournalTable, []map[string]types.AttributeValue{each.key(id, 1)})
		}
		if err != nil {
			return nil, Explain(ctx, err, "find %s", id)
		}
		if len(head)+len(first) > 0 {
			g.places.Add(id, each)
			return each, nil
		}
	}
	return g, nil
}

// under returns the gateway that looks for the aggregate's items under the pkey; nil: none.
func (g *Gateway) under(pkey string, id es.AggregateID) *Gateway {
	for _, each := range g.all {
		if each.partition(id) == pkey {
			return each
		}
	}
	return nil
}

// yielded yields what read finds, which the gateway of the aggregate does.
func yielded[T any](ctx context.Context, g *Gateway, id es.AggregateID, read func(*Gateway) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		g, err := g.at(ctx, id)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		read(g)(yield)
	}
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
