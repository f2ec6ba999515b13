package schema

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// setUpTTL turns expiry on if it is off. CreateTable can't do that, so a table without expiry may be unfinished. Expiry
// by another attribute is a difference. A table with any other difference may belong to another application, so it
// stays without expiry, which would delete its items.
func setUpTTL(ctx context.Context, client *dynamodb.Client, table Table, asDefined bool, report *Report) error {
	output, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
	if err != nil {
		return fmt.Errorf("read its time to live: %w", err)
	}
	got := ""
	if ttl := output.TimeToLiveDescription; ttl != nil {
		switch ttl.TimeToLiveStatus {
		case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
			got = aws.ToString(ttl.AttributeName)
		case types.TimeToLiveStatusDisabling: // for up to an hour it can't be turned on again
			report.Differences = append(report.Differences, Difference{table.Name, "time to live", cmp.Or(table.TTL, "none"), "being turned off"})
			return nil
		case types.TimeToLiveStatusDisabled:
		}
	}
	switch {
	case got == table.TTL:
		return nil
	case got != "" || !asDefined:
		report.Differences = append(report.Differences, Difference{table.Name, "time to live", cmp.Or(table.TTL, "none"), cmp.Or(got, "none")})
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(table.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(table.TTL), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("turn on its time to live: %w", err)
	}
	report.Created = append(report.Created, fmt.Sprintf("time to live on %s of table %s", table.TTL, table.Name))
	return nil
}
