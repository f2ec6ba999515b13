package dynamodb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es/eventstore"
	"example.com/threads/es/internal/packing"
)

// maxFilePart is the maximum size of a part's compressed content: DynamoDB's 400 KB for an item, less its attributes.
const maxFilePart = 380_000

// PutPart writes the part's item.
func (g *Gateway) PutPart(ctx context.Context, tenant, file string, nr uint64, content []byte, expires time.Time) error {
	if err := eventstore.CheckPart(file, content); err != nil {
		return err
	}
	packed := g.packer.Pack(content)
	if len(packed.Bytes) > maxFilePart {
		return fmt.Errorf("part %d of the file %s has %d bytes compressed, more than %d: make smaller parts", nr, file, len(packed.Bytes), maxFilePart)
	}
	part := g.filePartKey(tenant, file, nr)
	part["payload"] = binary(packed.Bytes)
	part["encoding"], part["checksum"] = text(packed.Encoding), text(packed.Checksum)
	part["ttl"] = number(ceilSeconds(expires))
	err := retryContended(ctx, func() error {
		_, err := g.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(g.settings.SnapshotTable), Item: part})
		return err
	})
	return explain(ctx, err, "store part %d of the file %s", nr, file)
}

// Part reads consistently. An expired part counts as missing, even if DynamoDB has not deleted it yet.
func (g *Gateway) Part(ctx context.Context, tenant, file string, nr uint64) ([]byte, bool, error) {
	part, err := g.getItem(ctx, g.settings.SnapshotTable, g.filePartKey(tenant, file, nr))
	if err != nil {
		return nil, false, explain(ctx, err, "read part %d of the file %s", nr, file)
	}
	ttl, err := part.number("ttl")
	if err != nil || len(part) == 0 || time.Unix(int64(ttl), 0).Before(g.settings.Clock()) {
		return nil, false, err
	}
	content, err := g.packer.Unpack(packing.Packed{Bytes: part.bytes("payload"), Encoding: part.text("encoding"), Checksum: part.text("checksum")})
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", nr, file, err)
	}
	return content, true, nil
}
