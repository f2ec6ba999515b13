package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

const (
	// maxFilePart limits a part's compressed content: DynamoDB's 400 KB for an item, less its attributes.
	maxFilePart = 380_000
	// wholeTenant is the owner in the item that counts all bytes of a tenant.
	wholeTenant = ""

	filesType = "files"
	fileTime  = filesType + "-%012d" // begins the keys of files that expire at a time
)

// fileKey returns the key of a file's item, by expiry, so that expired files are found without a scan.
func (g *Gateway) fileKey(file es.File) item {
	name := file.Tenant.String() + tenantSeparator + file.Name
	return item{"pkey": text(partitionOf("", filesType, name, g.lowest)), "skey": text(fmt.Sprintf(fileTime+"-%s", ceilSeconds(file.Expires), name))}
}

// filePartKey returns the key of a part of a file. Parts are written in quick succession, so each has its own shard.
func (g *Gateway) filePartKey(tenant es.Tenant, file string, number uint64) item {
	return g.keyOf(tenant, "file", fmt.Sprintf("%s-%d", file, number))
}

// PutParts counts the parts in the items of the file, its owner and its tenant before it writes them, so that a file
// that was stored only in part can be deleted.
func (g *Gateway) PutParts(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	if err := file.Check(parts); err != nil {
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
		part["payload"], part["encoding"], part["checksum"] = binary(packed.Bytes), text(packed.Encoding), text(packed.Checksum)
		part["ttl"] = number(ceilSeconds(file.Expires))
		items[i] = part
	}
	if size > min(g.settings.OwnerBytes, g.settings.TenantBytes) {
		return es.ErrSpoolFull
	}
	counted := g.update(g.fileKey(file), "ADD held :size, parts :parts SET tenant_code = :tenant, #file = :file, #owner = :owner, expires_at = :expires", "",
		item{
			":size": number(size), ":parts": number(len(parts)), ":tenant": text(file.Tenant.String()), ":file": text(file.Name),
			":owner": text(file.Owner), ":expires": number(ceilSeconds(file.Expires)),
		})
	err := g.transact(ctx, g.hold(file.Tenant, wholeTenant, size, g.settings.TenantBytes), g.hold(file.Tenant, file.Owner, size, g.settings.OwnerBytes), counted)
	if _, full := refused(err); full {
		return es.ErrSpoolFull
	}
	for i := 0; i < len(items) && err == nil; i++ {
		_, err = g.do(ctx, put(g.settings.SnapshotTable, items[i], "", nil))
	}
	return Explain(ctx, err, "store parts of the file %s", file.Name)
}

// hold adds to the bytes in an owner's files, up to a limit.
func (g *Gateway) hold(tenant es.Tenant, owner string, size, limit int) types.TransactWriteItem {
	return g.update(g.keyOf(tenant, "held", owner), "ADD held :size", "attribute_not_exists(held) OR held <= :most",
		item{":size": number(size), ":most": number(limit - max(size, 0))})
}

// Part reads consistently. An expired part counts as missing, even if it has not been deleted yet.
func (g *Gateway) Part(ctx context.Context, tenant es.Tenant, name string, nr uint64) ([]byte, bool, error) {
	part, err := g.getItem(ctx, g.settings.SnapshotTable, g.filePartKey(tenant, name, nr), "")
	if err != nil || len(part) == 0 || g.expired(part) {
		return nil, false, Explain(ctx, err, "read part %d of the file %s", nr, name)
	}
	content, err := g.packer.Unpack(packing.Packed{Bytes: part.bytes("payload"), Encoding: part.text("encoding"), Checksum: part.text("checksum")})
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", nr, name, err)
	}
	return content, true, nil
}

// DeleteFile deletes the parts first and the file's item last, so that an interrupted deletion can be completed.
func (g *Gateway) DeleteFile(ctx context.Context, file es.File) error {
	stored, err := g.getItem(ctx, g.settings.SnapshotTable, g.fileKey(file), "")
	if err == nil && len(stored) > 0 {
		err = g.deleteFile(ctx, stored)
	}
	return Explain(ctx, err, "delete the file %s", file.Name)
}

func (g *Gateway) deleteFile(ctx context.Context, stored item) error {
	size, err := stored.number("held")
	parts, failed := stored.number("parts")
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	tenant, name := es.Tenant(stored.text("tenant_code")), stored.text("file")
	for part := range parts {
		if err := g.deleteItems(ctx, g.filePartKey(tenant, name, part)); err != nil {
			return err
		}
	}
	released := -int(size)
	err = g.transact(ctx, g.hold(tenant, wholeTenant, released, math.MaxInt), g.hold(tenant, stored.text("owner"), released, math.MaxInt),
		types.TransactWriteItem{Delete: &types.Delete{
			TableName: aws.String(g.settings.SnapshotTable), Key: stored.key(), ConditionExpression: aws.String("held = :size AND parts = :parts"),
			ExpressionAttributeValues: item{":size": number(size), ":parts": number(parts)},
		}})
	if _, is := refused(err); is {
		return nil // another writer has deleted the file, or is changing it: then it is deleted when it has expired
	}
	return err
}

// DeleteExpired queries the files' items, whose keys begin with the time, in all shards.
func (g *Gateway) DeleteExpired(ctx context.Context) (count int, err error) {
	for shard := range g.lowest {
		for stored, err := range g.query(ctx, "read the expired files", &dynamodb.QueryInput{
			TableName:              aws.String(g.settings.SnapshotTable),
			KeyConditionExpression: aws.String("pkey = :pkey AND skey < :now"),
			ExpressionAttributeValues: item{
				":pkey": text(fmt.Sprintf("%s-%d", filesType, shard)), ":now": text(fmt.Sprintf(fileTime, ceilSeconds(g.settings.Clock()))),
			},
		}) {
			if err != nil {
				return count, err
			}
			if err := g.deleteFile(ctx, stored); err != nil {
				return count, Explain(ctx, err, "delete the expired file %s", stored.text("file"))
			}
			count++
		}
	}
	return count, nil
}

// Draw adds to the sequence's item. A retry after a lost answer draws again, which leaves a gap.
func (g *Gateway) Draw(ctx context.Context, tenant es.Tenant, sequence string) (uint64, error) {
	drawn, err := g.do(ctx, g.update(g.keyOf(tenant, "sequence", sequence), "ADD drawn :count", "", item{":count": number(1)}))
	if err != nil {
		return 0, Explain(ctx, err, "draw from the sequence %s", sequence)
	}
	return drawn.number("drawn")
}
