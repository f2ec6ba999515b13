package dynamodb

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

const (
	maxBatchGet = 100                   // keys in a BatchGetItem
	scanLimit   = 500                   // items read per page; a page also ends at 1 MB
	scanPause   = 10 * time.Millisecond // between pages, to leave capacity for commands
)

// shown returns the projection expression of some attributes, and the names in it; nil, which means all, without any.
func shown(attributes ...string) (expression *string, names map[string]string) {
	if len(attributes) == 0 {
		return nil, nil
	}
	names = make(map[string]string, len(attributes))
	for _, attribute := range attributes {
		names["#"+attribute] = attribute
	}
	return aws.String("#" + strings.Join(attributes, ", #")), names
}

// getItem reads an item consistently: all its attributes, or some. It is nil if there is none.
func (g *Gateway) getItem(ctx context.Context, table string, key item, attributes ...string) (item, error) {
	expression, names := shown(attributes...)
	output, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true),
		ProjectionExpression: expression, ExpressionAttributeNames: names,
	})
	if err != nil {
		return nil, err
	}
	return output.Item, nil
}

// getEvents reads up to maxBatchGet items of the journal consistently: all their attributes, or some. When capacity is
// short, DynamoDB returns only some of the items; the rest is requested again.
func (g *Gateway) getEvents(ctx context.Context, keys []map[string]types.AttributeValue, attributes ...string) (found []item, err error) {
	expression, names := shown(attributes...)
	table := g.settings.JournalTable
	rest := map[string]types.KeysAndAttributes{table: {
		Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: expression, ExpressionAttributeNames: names,
	}}
	retry := pauses()
	for attempt := 1; ; attempt++ {
		output, err := g.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: rest})
		if err != nil {
			return nil, err
		}
		for _, event := range output.Responses[table] {
			found = append(found, event)
			attempt = 0 // keep trying as long as items arrive
			retry.Reset()
		}
		if rest = output.UnprocessedKeys; len(rest) == 0 {
			return found, nil
		}
		if attempt == contentionAttempts || es.Wait(ctx, retry.NextBackOff()) != nil {
			return nil, errUnprocessed
		}
	}
}

// query yields the items that a query finds. page chooses how many are read at once; at most so many are in memory.
func (g *Gateway) query(ctx context.Context, page *pageSize, input *dynamodb.QueryInput) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		for request := *input; ; {
			request.Limit = aws.Int32(int32(page.items()))
			output, err := g.client.Query(ctx, &request)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, found := range output.Items {
				page.saw(found)
				if !yield(found, nil) {
					return
				}
			}
			if request.ExclusiveStartKey = output.LastEvaluatedKey; len(request.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}

// scan yields the items that a scan finds page by page, consistently, with pauses that leave capacity for the programs.
func (g *Gateway) scan(ctx context.Context, input *dynamodb.ScanInput) iter.Seq2[[]item, error] {
	return func(yield func([]item, error) bool) {
		input.ConsistentRead, input.Limit = aws.Bool(true), aws.Int32(scanLimit)
		for pages := dynamodb.NewScanPaginator(g.client, input); pages.HasMorePages(); {
			output, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			found := make([]item, len(output.Items))
			for i := range output.Items {
				found[i] = output.Items[i]
			}
			if !yield(found, nil) {
				return
			}
			if pages.HasMorePages() && es.Wait(ctx, scanPause) != nil {
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

const (
	// targetPage is the target size of an answer in bytes. The SDK sometimes loses the connection in answers of half a
	// megabyte. A fifth of that is safe and costs few more requests.
	targetPage = 100_000
	firstPage  = 25  // fits events of up to 16 KB, the largest usual size
	maxPage    = 250 // for items of any size
)

// pageSize chooses the number of items to request from the size of the items read so far.
type pageSize struct{ count, bytes int }

func (p *pageSize) saw(seen item) {
	p.count++
	p.bytes += seen.size()
}

func (p *pageSize) items() int {
	if p.count == 0 {
		return firstPage
	}
	return max(1, min(targetPage*p.count/p.bytes, maxPage))
}
