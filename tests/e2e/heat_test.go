package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
)

// heatOnDynamoDBLocal is what tools/dev/scale compares its simulation with.
const heatOnDynamoDBLocal = "../../tools/dev/scale/heat.json"

// heat is a journal that was written, and the part of its items under the busiest partition key.
type heat struct {
	Threads, Shards, Events int
	Exponent, Hottest       float64
}

// The scale model simulates which partition keys are hot. Here threads, some busier than others, are written by the
// gateway, whose hash selects the keys. The ids are the same in each run, and so the keys.
func TestHeatOnDynamoDBLocal(t *testing.T) {
	name := testenv.UniqueName(t)
	client := sdk.NewFromConfig(testenv.DynamoDBConfig(t))
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(name+"-journal", name+"-snapshot")); err != nil {
		t.Fatal(err)
	}
	var found []heat
	for i, exponent := range []float64{0, 0.8, 1.2} {
		h := heat{Threads: 200, Shards: 16, Exponent: exponent}
		gateway, err := dynamodb.New(client, dynamodb.Settings{JournalTable: name + "-journal", SnapshotTable: name + "-snapshot", Shards: []int{h.Shards}})
		if err != nil {
			t.Fatal(err)
		}
		kind, random := fmt.Sprint("heat", i), rand.New(rand.NewPCG(uint64(i), 0))
		sum := 0.0
		for thread := range h.Threads {
			sum += math.Pow(float64(thread+1), -exponent)
		}
		var writing errgroup.Group
		writing.SetLimit(8)
		for thread := range h.Threads {
			var id ulid.ULID
			for at := range id {
				id[at] = byte(random.IntN(256))
			}
			id[0] &= 0x7f
			events := int(math.Round(1000 * math.Pow(float64(thread+1), -exponent) / sum))
			h.Events += events
			writing.Go(func() error {
				key := es.AggregateID{Type: kind, ID: id.String()}
				var entries []es.Entry
				for seqNr := range events {
					entries = append(entries, es.Entry{SeqNr: uint64(seqNr + 1), EventID: ulid.Make().String(), OccurredAt: time.Now(), Payload: []byte("{}")})
				}
				for part := range slices.Chunk(entries, 50) {
					if err := gateway.Append(t.Context(), es.Append{ID: key, ExpectedVersion: part[0].SeqNr - 1, Entries: part}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := writing.Wait(); err != nil {
			t.Fatal(err)
		}
		for shard := range h.Shards {
			counted, err := client.Query(t.Context(), &sdk.QueryInput{
				TableName: aws.String(name + "-journal"), KeyConditionExpression: aws.String("pkey = :p"), Select: types.SelectCount,
				ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: fmt.Sprint(kind, "-", shard)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			h.Hottest = max(h.Hottest, float64(counted.Count)/float64(h.Events))
		}
		found = append(found, h)
	}
	wantFile(t, heatOnDynamoDBLocal, found)
}
