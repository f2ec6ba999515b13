package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	activeTimeout = 5 * time.Minute
	pollMin       = 20 * time.Millisecond // DynamoDB Local creates tables at once
	pollMax       = 2 * time.Second
)

// Report is the result of [Setup].
type Report struct {
	Created     []string     // what was missing and was created, in words
	Differences []Difference // differences from the definition; nothing was changed
}

// Difference is a property of a table that differs from the definition.
type Difference struct{ Table, What, Want, Got string }

func (d Difference) String() string {
	return fmt.Sprintf("table %s: %s is %s, defined as %s", d.Table, d.What, d.Got, d.Want)
}

// Setup creates missing tables, turns expiry on if a table has no other difference and never had it, waits until all
// are active, and compares them with the definition. It does not change existing tables otherwise. Repeated and
// concurrent runs give the same result.
func Setup(ctx context.Context, client *dynamodb.Client, tables []Table) (Report, error) {
	var report Report
	for _, table := range tables {
		if err := setUp(ctx, client, table, &report); err != nil {
			return report, fmt.Errorf("set up table %s: %w", table.Name, err)
		}
	}
	return report, nil
}

func setUp(ctx context.Context, client *dynamodb.Client, table Table, report *Report) error {
	var missing *types.ResourceNotFoundException
	_, err := describe(ctx, client, table)
	if errors.As(err, &missing) {
		var raced *types.ResourceInUseException
		_, err = client.CreateTable(ctx, table.createInput())
		switch {
		case err == nil:
			report.Created = append(report.Created, "table "+table.Name)
		case errors.As(err, &raced): // another process is creating it
			err = nil
		}
	}
	if err != nil {
		return err
	}
	active, err := awaitActive(ctx, client, table)
	if err != nil {
		return err
	}
	differences := table.compare(active)
	report.Differences = append(report.Differences, differences...)
	return setUpTTL(ctx, client, table, len(differences) == 0, report)
}

func describe(ctx context.Context, client *dynamodb.Client, table Table) (*types.TableDescription, error) {
	output, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table.Name)})
	if err != nil {
		return nil, err
	}
	return output.Table, nil
}

// awaitActive polls until the table and its index are active.
func awaitActive(ctx context.Context, client *dynamodb.Client, table Table) (*types.TableDescription, error) {
	ctx, cancel := context.WithTimeout(ctx, activeTimeout)
	defer cancel()
	for wait := pollMin; ; wait = min(2*wait, pollMax) {
		description, err := describe(ctx, client, table)
		var missing *types.ResourceNotFoundException
		switch {
		case err != nil && !errors.As(err, &missing): // a new table may not be visible yet
			return nil, err
		case err == nil && active(description):
			return description, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("it is not active yet; run the setup again to continue waiting: %w", ctx.Err())
		}
	}
}

func active(table *types.TableDescription) bool {
	for _, index := range table.GlobalSecondaryIndexes {
		if index.IndexStatus != types.IndexStatusActive {
			return false
		}
	}
	return table.TableStatus == types.TableStatusActive
}
