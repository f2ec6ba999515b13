package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Check tells whether both tables answer. It reads an item of each that nobody writes, at half a read unit a table.
func (g *Gateway) Check(ctx context.Context) error {
	nobody := eventstore.AggregateID{Type: "check", ULID: "none"}
	for _, table := range []string{g.settings.JournalTable, g.settings.SnapshotTable} {
		_, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: g.key(nobody, headSeqNr)})
		if err != nil {
			return explainf(ctx, err, "read table %s", table)
		}
	}
	return nil
}
