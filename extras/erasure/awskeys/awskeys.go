// Package awskeys keeps the keys of people in DynamoDB, and the master key in AWS KMS. A program that needs neither
// uses the package erasure alone, and does not link the AWS SDK.
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
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"example.com/threads/es"
	esdynamodb "example.com/threads/es/dynamodb"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/history"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
)

// ReadTables returns the DynamoDB tables that the settings need: that of the keys, whose backups must not be kept
// longer than erased data may exist.
func ReadTables(r *config.Reader) (tables []esdynamodb.Table) {
	if on, name := erasure.ReadPlace(r); on {
		tables = append(tables, esdynamodb.Table{Name: name})
	}
	return tables
}

// Open returns a keyring over the keys in the event store's database; nil: erasure is off.
func Open(ctx context.Context, s erasure.Settings, store *eventstore.Store) (*erasure.Keyring, error) {
	return OpenIn(ctx, s, func(context.Context) (*eventstore.Store, error) { return store, nil })
}

// OpenIn is Open for a program that can run without the event store. With erasure on, it needs the store at the start.
func OpenIn(ctx context.Context, s erasure.Settings, open history.Store) (*erasure.Keyring, error) {
	if !s.On {
		return nil, nil
	}
	store, err := open(ctx)
	if err != nil {
		return nil, err
	}
	var keys erasure.Store
	if store.SQL != nil {
		keys, err = erasure.NewRelationalStore(ctx, store.SQL)
	} else {
		keys = NewDynamoDBStore(store.DynamoDB.(*dynamodb.Client), s.KeyTable) // as the field says
	}
	master, masterErr := masterOf(ctx, s)
	return erasure.NewKeyring(keys, master, time.Now), errors.Join(err, masterErr)
}

func masterOf(ctx context.Context, s erasure.Settings) (erasure.Master, error) {
	if s.KMSKey == "" {
		return s.Master()
	}
	awsConfig, err := dynamo.Load(ctx)
	return NewKMS(kms.NewFromConfig(awsConfig), s.KMSKey), err
}

// kmsMaster wraps keys by calls to AWS KMS.
type kmsMaster struct {
	client *kms.Client
	key    string
}

// NewKMS returns the master key of AWS KMS with this id, ARN or alias. It is safe for concurrent use.
func NewKMS(client *kms.Client, key string) erasure.Master { return kmsMaster{client, key} }

// contextOf returns the encryption context. KMS authenticates it with a key and shows it in its audit log.
func contextOf(about string) map[string]string { return map[string]string{"owner": about} }

func (k kmsMaster) Wrap(ctx context.Context, key []byte, about string) ([]byte, error) {
	output, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: aws.String(k.key), Plaintext: key, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, esdynamodb.Explain(ctx, err, "AWS KMS")
	}
	return output.CiphertextBlob, nil
}

func (k kmsMaster) Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error) {
	output, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String(k.key), CiphertextBlob: wrapped, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, esdynamodb.Explain(ctx, err, "AWS KMS")
	}
	return output.Plaintext, nil
}

// dynamoDBStore stores keys in a DynamoDB table of their own. The pkey consists of tenant and owner.
type dynamoDBStore struct {
	client *dynamodb.Client
	table  string
}

func NewDynamoDBStore(client *dynamodb.Client, table string) erasure.Store {
	return dynamoDBStore{client, table}
}

type item = map[string]types.AttributeValue

const (
	pkey      = "pkey"
	wrappedA  = "wrapped"
	erasedAt  = "erased_at" // milliseconds
	separator = "#"         // in a pkey
	batchGet  = 100         // keys in a request
)

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
	if exists, is := errors.AsType[*types.ConditionalCheckFailedException](err); is {
		return entryOf(exists.Item)
	}
	return erasure.Entry{Wrapped: wrapped}, esdynamodb.Explain(ctx, err, "store a key")
}

func (s dynamoDBStore) Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: keyOf(tenant, owner),
		UpdateExpression:          aws.String("SET erased_at = if_not_exists(erased_at, :at) REMOVE #wrapped"),
		ExpressionAttributeNames:  map[string]string{"#wrapped": wrappedA}, // a reserved word
		ExpressionAttributeValues: item{":at": &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)}},
	})
	return esdynamodb.Explain(ctx, err, "destroy a key")
}
