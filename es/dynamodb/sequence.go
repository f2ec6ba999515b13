package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// Draw adds to the sequence's item. A retry after a lost answer draws again, which leaves a gap.
func (g *Gateway) Draw(ctx context.Context, tenant es.Tenant, sequence string, count uint64) (uint64, error) {
	if err := es.CheckDraw(sequence, count); err != nil {
		return 0, err
	}
	var drawn *dynamodb.UpdateItemOutput
	err := retryContended(ctx, func() (err error) {
		drawn, err = g.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 aws.String(g.settings.SnapshotTable),
			Key:                       g.sequenceKey(tenant, sequence),
			UpdateExpression:          aws.String("ADD drawn :count"),
			ExpressionAttributeValues: item{":count": number(count)},
			ReturnValues:              types.ReturnValueUpdatedNew,
		})
		return err
	})
	if err != nil {
		return 0, explain(ctx, err, "draw from the sequence %s", sequence)
	}
	last, err := item(drawn.Attributes).number("drawn")
	return last - count + 1, err
}
