package awskeys

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	esdynamodb "example.com/threads/es/dynamodb"
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

const batchGet = 100 // keys in a request

func (s dynamoDBStore) Keys(ctx context.Context, tenant es.Tenant, owners []string) (map[string]erasure.Entry, error) {
	found := make(map[string]erasure.Entry, len(owners))
	for some := range slices.Chunk(owners, batchGet) {
		var keys []item
		for _, owner := range some {
			keys = append(keys, keyOf(tenant, owner))
		}
		items, err := esdynamodb.GetItems(ctx, s.client, s.table, keys)
		for _, stored := range items {
			key, _ := stored[pkey].(*types.AttributeValueMemberS)
			_, owner, _ := strings.Cut(key.Value, separator)
			if found[owner], err = entryOf(stored); err != nil {
				break
			}
		}
		if err != nil {
			return nil, esdynamodb.Explain(ctx, err, "read keys")
		}
	}
	return found, nil
}

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
	return erasure.Entry{}, esdynamodb.Explain(ctx, err, "store a key")
}

func (s dynamoDBStore) Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: keyOf(tenant, owner),
		UpdateExpression:         aws.String("SET #at = if_not_exists(#at, :at) REMOVE #wrapped"),
		ExpressionAttributeNames: map[string]string{"#at": erasedAt, "#wrapped": wrappedA},
		ExpressionAttributeValues: item{
			":at": &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)},
		},
	})
	return esdynamodb.Explain(ctx, err, "destroy a key")
}
