package dynamodb

import (
	"context"
	"crypto/rand"
	"iter"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

const (
	maxBatchGet = 100                   // keys in a BatchGetItem
	queryLimit  = 100                   // items of a page; a page also ends at 1 MB
	scanLimit   = 500                   // the same, of a scan
	scanPause   = 10 * time.Millisecond // between pages, to leave capacity for commands
)

var placeholder = regexp.MustCompile(`#\w+`)

// expression returns an expression (nil if it is empty) with its attribute names: #ttl stands for ttl, a reserved word.
func expression(text string) (*string, map[string]string) {
	if text == "" {
		return nil, nil
	}
	var names map[string]string
	for _, name := range placeholder.FindAllString(text, -1) {
		if names == nil {
			names = map[string]string{}
		}
		names[name] = name[1:]
	}
	return &text, names
}

// getItem reads an item consistently: all its attributes, or some. It is nil if there is none.
func (g *Gateway) getItem(ctx context.Context, table string, key item, attributes string) (item, error) {
	input := &dynamodb.GetItemInput{TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true)}
	input.ProjectionExpression, input.ExpressionAttributeNames = expression(attributes)
	output, err := g.client.GetItem(ctx, input)
	if err != nil {
		return nil, err
	}
	return output.Item, nil
}

// GetItems reads the items with up to 100 keys consistently, in any order, again and again if capacity is short.
func GetItems(
	ctx context.Context, client *dynamodb.Client, table string, keys []map[string]types.AttributeValue,
) (found []map[string]types.AttributeValue, err error) {
	rest := map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	for len(rest) > 0 {
		err := retryContended(ctx, func() error {
			output, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: rest})
			if err != nil {
				return err
			}
			items := output.Responses[table]
			if found, rest = append(found, items...), output.UnprocessedKeys; len(rest) > 0 && len(items) == 0 {
				return errUnprocessed
			}
			return nil // as long as items arrive, the rest is asked for
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// query yields the items that a query finds. At most a page is in memory. An error says what was done.
func (g *Gateway) query(ctx context.Context, doing string, input *dynamodb.QueryInput) iter.Seq2[item, error] {
	input.Limit = aws.Int32(queryLimit)
	return func(yield func(item, error) bool) {
		for pages := dynamodb.NewQueryPaginator(g.client, input); pages.HasMorePages(); {
			output, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, Explain(ctx, err, "%s", doing))
				return
			}
			for _, found := range output.Items {
				if !yield(found, nil) {
					return
				}
			}
		}
	}
}

// indexed is the query of an aggregate's items within a range of seq_nr in an index, without those of other tenants.
func (g *Gateway) indexed(table, index string, id es.AggregateID, from, to uint64) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(table), IndexName: aws.String(index),
		KeyConditionExpression: aws.String("aid = :aid AND seq_nr BETWEEN :from AND :to"),
		FilterExpression:       aws.String("pkey = :pkey"),
		ExpressionAttributeValues: item{
			":aid": text(id.String()), ":from": number(from), ":to": number(to), ":pkey": g.key(id, from)["pkey"],
		},
	}
}

// belongings yields the items of an aggregate in a table, read consistently: all their attributes, or some.
func (g *Gateway) belongings(ctx context.Context, table string, id es.AggregateID, attributes string) iter.Seq2[item, error] {
	return yielded(ctx, g, id, func(g *Gateway) iter.Seq2[item, error] {
		input := &dynamodb.QueryInput{
			TableName:              aws.String(table),
			KeyConditionExpression: aws.String("pkey = :pkey AND begins_with(skey, :prefix)"),
			ExpressionAttributeValues: item{
				":pkey": g.key(id, headSeqNr)["pkey"], ":prefix": text(id.String() + "-"),
			},
			ConsistentRead: aws.Bool(true),
		}
		input.ProjectionExpression, input.ExpressionAttributeNames = expression(attributes)
		return g.query(ctx, "read table "+table+" for "+id.String(), input)
	})
}

// scan yields the items that a consistent scan finds. Between pages it pauses.
func (g *Gateway) scan(ctx context.Context, input *dynamodb.ScanInput) iter.Seq2[item, error] {
	input.ConsistentRead, input.Limit = aws.Bool(true), aws.Int32(scanLimit)
	return func(yield func(item, error) bool) {
		for pages := dynamodb.NewScanPaginator(g.client, input); pages.HasMorePages(); {
			output, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, Explain(ctx, err, "scan table %s", *input.TableName))
				return
			}
			for _, found := range output.Items {
				if !yield(found, nil) {
					return
				}
			}
			_ = es.Wait(ctx, scanPause) // the next page sees the end of ctx
		}
	}
}

// put puts an item on a condition; empty: none.
func put(table string, stored item, condition string, values item) types.TransactWriteItem {
	change := &types.Put{TableName: aws.String(table), Item: stored, ExpressionAttributeValues: values}
	if change.ConditionExpression, change.ExpressionAttributeNames = expression(condition); condition != "" {
		change.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.TransactWriteItem{Put: change}
}

// Conditions on the item under the key. Without one, an update creates it.
const (
	absent  = "attribute_not_exists(pkey)"
	present = "attribute_exists(pkey)"
)

// update changes an item of the snapshot table on a condition; empty: none.
func (g *Gateway) update(key item, changes, condition string, values item) types.TransactWriteItem {
	change := &types.Update{TableName: aws.String(g.settings.SnapshotTable), Key: key, ExpressionAttributeValues: values}
	change.UpdateExpression, change.ExpressionAttributeNames = expression(changes)
	if condition != "" {
		change.ConditionExpression = aws.String(condition)
		change.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.TransactWriteItem{Update: change}
}

// transact makes changes in one transaction. Its token makes repeats harmless for ten minutes.
func (g *Gateway) transact(ctx context.Context, changes ...types.TransactWriteItem) error {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: changes, ClientRequestToken: aws.String(rand.Text())}
	return retryContended(ctx, func() error {
		_, err := g.client.TransactWriteItems(ctx, input)
		return err
	})
}

// do makes one change without a transaction, which costs half as much. It returns the changed attributes of an update.
func (g *Gateway) do(ctx context.Context, change types.TransactWriteItem) (changed item, err error) {
	err = retryContended(ctx, func() error {
		if put := change.Put; put != nil {
			_, err := g.client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
				ExpressionAttributeNames: put.ExpressionAttributeNames, ExpressionAttributeValues: put.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: put.ReturnValuesOnConditionCheckFailure,
			})
			return err
		}
		update := change.Update
		output, err := g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: update.TableName, Key: update.Key, UpdateExpression: update.UpdateExpression,
			ConditionExpression: update.ConditionExpression, ExpressionAttributeNames: update.ExpressionAttributeNames,
			ExpressionAttributeValues: update.ExpressionAttributeValues, ReturnValues: types.ReturnValueUpdatedNew,
			ReturnValuesOnConditionCheckFailure: update.ReturnValuesOnConditionCheckFailure,
		})
		if err == nil {
			changed = output.Attributes
		}
		return err
	})
	return changed, err
}

// deleteItems deletes items of the snapshot table in order.
func (g *Gateway) deleteItems(ctx context.Context, keys ...item) (err error) {
	for i := 0; i < len(keys) && err == nil; i++ {
		err = retryContended(ctx, func() error {
			_, err := g.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(g.settings.SnapshotTable), Key: keys[i]})
			return err
		})
	}
	return err
}
