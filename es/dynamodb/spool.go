package dynamodb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

const (
	// maxFilePart is the maximum size of a part's compressed content: DynamoDB's 400 KB for an item, less its
	// attributes.
	maxFilePart = 380_000
	// partsAtOnce is the number of parts of a file that are written or deleted concurrently.
	partsAtOnce = 16
)

// PutParts counts the parts first, in the file's item and in those of its owner and tenant, and then writes an item for
// each part. So a file that was stored only in part is known, and can be deleted.
func (g *Gateway) PutParts(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	if err := es.CheckParts(file, parts); err != nil {
		return err
	}
	items, size := make([]item, len(parts)), 0
	for i, content := range parts {
		packed := g.packer.Pack(content)
		if len(packed.Bytes) > maxFilePart {
			return fmt.Errorf("a part of the file %s has %d bytes compressed, more than %d: make smaller parts", file.Name, len(packed.Bytes), maxFilePart)
		}
		size += len(content)
		part := g.filePartKey(file.Tenant, file.Name, first+uint64(i))
		part["payload"] = binary(packed.Bytes)
		part["encoding"], part["checksum"] = text(packed.Encoding), text(packed.Checksum)
		part["ttl"] = number(ceilSeconds(file.Expires))
		items[i] = part
	}
	if err := g.hold(ctx, file, size, len(parts)); err != nil {
		return explain(ctx, err, "count %d bytes of the file %s", size, file.Name)
	}
	err := atOnce(ctx, len(items), func(ctx context.Context, i int) error {
		return retryContended(ctx, func() error {
			_, err := g.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(g.settings.SnapshotTable), Item: items[i]})
			return err
		})
	})
	return explain(ctx, err, "store parts of the file %s", file.Name)
}

// atOnce calls do with 0 to n-1, some calls at the same time.
func atOnce(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// wholeTenant is the owner in the item that counts all bytes of a tenant.
const wholeTenant = ""

// hold counts parts of a file and their bytes, or fails with [es.ErrSpoolFull].
func (g *Gateway) hold(ctx context.Context, file es.File, size, parts int) error {
	limits := g.settings.Spool.WithDefaults()
	if size > min(limits.Owner, limits.Tenant) {
		return es.ErrSpoolFull
	}
	holding := func(owner string, limit int) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName:                 aws.String(g.settings.SnapshotTable),
			Key:                       g.heldKey(file.Tenant, owner),
			UpdateExpression:          aws.String("ADD held :size"),
			ConditionExpression:       aws.String("attribute_not_exists(held) OR held <= :most"),
			ExpressionAttributeValues: item{":size": number(size), ":most": number(limit - size)},
		}}
	}
	err := g.change(ctx, holding(wholeTenant, limits.Tenant), holding(file.Owner, limits.Owner), types.TransactWriteItem{Update: &types.Update{
		TableName:                aws.String(g.settings.SnapshotTable),
		Key:                      g.fileKey(file),
		UpdateExpression:         aws.String("ADD held :size, parts :parts SET tenant_code = :tenant, #file = :file, #owner = :owner, expires_at = :expires"),
		ExpressionAttributeNames: map[string]string{"#file": "file", "#owner": "owner"},
		ExpressionAttributeValues: item{
			":size": number(size), ":parts": number(parts), ":tenant": text(file.Tenant.String()), ":file": text(file.Name), ":owner": text(file.Owner),
			":expires": number(ceilSeconds(file.Expires)),
		},
	}})
	if errors.Is(err, errRefused) {
		err = es.ErrSpoolFull
	}
	return err
}

// errRefused: an item is not as a change of it expects.
var errRefused = errors.New("an item is not as the change expects it")

// change makes a transaction. It fails with errRefused if a condition fails.
func (g *Gateway) change(ctx context.Context, items ...types.TransactWriteItem) error {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: aws.String(rand.Text())}
	err := retryContended(ctx, func() error {
		_, err := g.client.TransactWriteItems(ctx, input)
		return err
	})
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) && refused(canceled) {
		return errRefused
	}
	return err
}

// Part reads consistently. An expired part counts as missing, even if it has not been deleted yet.
func (g *Gateway) Part(ctx context.Context, tenant es.Tenant, name string, nr uint64) ([]byte, bool, error) {
	part, err := g.getItem(ctx, g.settings.SnapshotTable, g.filePartKey(tenant, name, nr))
	if err != nil {
		return nil, false, explain(ctx, err, "read part %d of the file %s", nr, name)
	}
	ttl, err := part.number("ttl")
	if err != nil || len(part) == 0 || time.Unix(int64(ttl), 0).Before(g.settings.Clock()) {
		return nil, false, err
	}
	content, err := g.packer.Unpack(packing.Packed{Bytes: part.bytes("payload"), Encoding: part.text("encoding"), Checksum: part.text("checksum")})
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", nr, name, err)
	}
	return content, true, nil
}

// DeleteFile deletes the parts first and the file's item last, so that an interrupted deletion can be completed.
func (g *Gateway) DeleteFile(ctx context.Context, file es.File) error {
	stored, err := g.getItem(ctx, g.settings.SnapshotTable, g.fileKey(file))
	if err == nil && len(stored) > 0 {
		err = g.deleteFile(ctx, stored)
	}
	return explain(ctx, err, "delete the file %s", file.Name)
}

func (g *Gateway) deleteFile(ctx context.Context, stored item) error {
	size, err := stored.number("held")
	if err != nil {
		return err
	}
	parts, err := stored.number("parts")
	if err != nil {
		return err
	}
	tenant, name, table := es.Tenant(stored.text("tenant_code")), stored.text("file"), aws.String(g.settings.SnapshotTable)
	if err := atOnce(ctx, int(parts), func(ctx context.Context, i int) error {
		return retryContended(ctx, func() error { return g.deleteItem(ctx, g.filePartKey(tenant, name, uint64(i))) })
	}); err != nil {
		return err
	}
	release := func(owner string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: g.heldKey(tenant, owner), UpdateExpression: aws.String("ADD held :size"),
			ExpressionAttributeValues: item{":size": number(-int64(size))},
		}}
	}
	err = g.change(ctx, release(wholeTenant), release(stored.text("owner")), types.TransactWriteItem{Delete: &types.Delete{
		TableName: table, Key: keyOf(stored), ConditionExpression: aws.String("held = :size AND parts = :parts"),
		ExpressionAttributeValues: item{":size": number(size), ":parts": number(parts)},
	}})
	if errors.Is(err, errRefused) {
		return nil // another writer has deleted the file, or is changing it: then it is deleted when it has expired
	}
	return err
}

// DeleteExpired queries the files' items, whose keys begin with the time, in all shards. It does not rely on the
// table's TTL, which may be off, and releases what the files' owners hold.
func (g *Gateway) DeleteExpired(ctx context.Context) (count int, err error) {
	for shard := range g.shards {
		pages := dynamodb.NewQueryPaginator(g.client, &dynamodb.QueryInput{
			TableName:              aws.String(g.settings.SnapshotTable),
			KeyConditionExpression: aws.String("pkey = :pkey AND skey < :now"),
			ExpressionAttributeValues: item{
				":pkey": text(fmt.Sprintf("%s-%d", filesType, shard)), ":now": text(fileTime(g.settings.Clock())),
			},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return count, explain(ctx, err, "read the expired files")
			}
			for _, stored := range page.Items {
				if err := g.deleteFile(ctx, stored); err != nil {
					return count, explain(ctx, err, "delete the expired file %s", item(stored).text("file"))
				}
				count++
			}
		}
	}
	return count, nil
}
