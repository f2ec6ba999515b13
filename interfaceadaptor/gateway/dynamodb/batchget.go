package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/interfaceadaptor/eventstore"
)

// maxBatchGet is how many keys DynamoDB takes at once.
const maxBatchGet = 100

// getEntries reads the journal's items from one number up to, but without, another, by their sort keys, consistently.
// DynamoDB answers what it has the capacity for and names the rest, which is asked for again.
func (g *Gateway) getEntries(ctx context.Context, id eventstore.AggregateID, from, end uint64) (map[string]item, error) {
	var keys []map[string]types.AttributeValue
	for seqNr := from; seqNr < end; seqNr++ {
		keys = append(keys, g.key(id, seqNr))
	}
	table := g.settings.JournalTable
	rest := map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	found := make(map[string]item, len(keys))
	for attempt := 1; ; attempt++ {
		output, err := g.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: rest})
		if err != nil {
			return nil, err
		}
		for _, event := range output.Responses[table] {
			found[item(event).text("skey")] = event
			attempt = 0 // as long as something comes, it is worth while
		}
		if rest = output.UnprocessedKeys; len(rest) == 0 {
			return found, nil
		}
		if attempt == contentionAttempts || !pause(ctx, attempt+1) {
			return nil, errLeftOver
		}
	}
}
