package awskeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/cenkalti/backoff/v5"

	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// dynamoDBStore stores keys in a DynamoDB table of their own. The pkey consists of tenant and owner.
type dynamoDBStore struct {
	client *dynamodb.Client
	table  string
}

// NewDynamoDBStore returns a store over a table.
func NewDynamoDBStore(client *dynamodb.Client, table string) erasure.Store {
	return dynamoDBStore{client, table}
}

type item = map[string]types.AttributeValue

const (
	pkey     = "pkey"
	wrappedA = "wrapped"
	erasedAt = "erased_at" // milliseconds
)

const separator = "#"

func keyOf(tenant es.Tenant, owner string) item {
	return item{pkey: &types.AttributeValueMemberS{Value: tenant.String() + separator + owner}}
}

func entryOf(found item) (erasure.Entry, error) {
	if at, erased := found[erasedAt].(*types.AttributeValueMemberN); erased {
		millis, err := strconv.ParseInt(at.Value, 10, 64)
		return erasure.Entry{ErasedAt: time.UnixMilli(millis).UTC()}, err
	}
	wrapped, _ := found[wrappedA].(*types.AttributeValueMemberB)
	if wrapped == nil {
		return erasure.Entry{}, errors.New("an item of the key table has no key")
	}
	return erasure.Entry{Wrapped: wrapped.Value}, nil
}

const batchGet = 100 // keys in a BatchGetItem

// Keys implements [erasure.Store].
func (s dynamoDBStore) Keys(ctx context.Context, tenant es.Tenant, owners []string) (map[string]erasure.Entry, error) {
	found := make(map[string]erasure.Entry, len(owners))
	for some := range slices.Chunk(owners, batchGet) {
		var keys []item
		for _, owner := range some {
			keys = append(keys, keyOf(tenant, owner))
		}
		if err := s.read(ctx, keys, found); err != nil {
			return nil, explain("read keys", err)
		}
	}
	return found, nil
}

const batchAttempts = 8 // for a request that DynamoDB answers only partly

func (s dynamoDBStore) read(ctx context.Context, keys []item, into map[string]erasure.Entry) error {
	asked := map[string]types.KeysAndAttributes{s.table: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	pauses := &backoff.ExponentialBackOff{InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.33}
	for attempt := 0; len(asked) > 0; attempt++ {
		if attempt == batchAttempts {
			return fmt.Errorf("DynamoDB left a part of the request unprocessed: %w", es.ErrUnavailable)
		}
		if attempt > 0 && es.Wait(ctx, pauses.NextBackOff()) != nil {
			return ctx.Err()
		}
		output, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return err
		}
		for _, found := range output.Responses[s.table] {
			key, _ := found[pkey].(*types.AttributeValueMemberS)
			_, owner, _ := strings.Cut(key.Value, separator)
			if into[owner], err = entryOf(found); err != nil {
				return err
			}
		}
		asked = output.UnprocessedKeys
	}
	return nil
}

// Create implements [erasure.Store].
func (s dynamoDBStore) Create(ctx context.Context, tenant es.Tenant, owner string, wrapped []byte) (erasure.Entry, error) {
	put := keyOf(tenant, owner)
	put[wrappedA] = &types.AttributeValueMemberB{Value: wrapped}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.table), Item: put, ConditionExpression: aws.String("attribute_not_exists(pkey)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var exists *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return erasure.Entry{Wrapped: wrapped}, nil
	case errors.As(err, &exists):
		return entryOf(exists.Item)
	}
	return erasure.Entry{}, explain("store a key", err)
}

// Destroy implements [erasure.Store].
func (s dynamoDBStore) Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: keyOf(tenant, owner),
		UpdateExpression:         aws.String("SET #at = if_not_exists(#at, :at) REMOVE #wrapped"),
		ExpressionAttributeNames: map[string]string{"#at": erasedAt, "#wrapped": wrappedA},
		ExpressionAttributeValues: item{
			":at": &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)},
		},
	})
	return explain("destroy a key", err)
}

// explain adds what failed, and wraps [es.ErrUnavailable] if a retry may succeed.
func explain(doing string, err error) error {
	var unsent *smithyhttp.RequestSendError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &unsent), retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary:
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
