package dynamodbstreams

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es/internal/polling"
)

// locate waits until the table has a stream with new images, and returns its ARN. It only fails when ctx ends.
func (s *Source) locate(ctx context.Context) (found string, err error) {
	report := func(err error) {
		s.status.fail(err)
		s.fail(ctx, "waiting for the journal's stream", err, "table", s.table)
	}
	err = polling.Retry(ctx, report, func(ctx context.Context) error {
		answer, err := s.ports.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.table)})
		if err == nil {
			found, err = streamOf(answer.Table)
		}
		var missing *tables.ResourceNotFoundException
		if errors.As(err, &missing) {
			return fmt.Errorf("table %s does not exist yet; create the tables first: %w", s.table, err)
		}
		return err
	})
	return found, err
}

func streamOf(table *tables.TableDescription) (string, error) {
	if table == nil {
		return "", errors.New("the description of the table is empty")
	}
	settings := table.StreamSpecification
	if settings == nil || !aws.ToBool(settings.StreamEnabled) || table.LatestStreamArn == nil {
		return "", errors.New("the table has no stream; enable one with the view type NEW_IMAGE")
	}
	if view := settings.StreamViewType; view != tables.StreamViewTypeNewImage && view != tables.StreamViewTypeNewAndOldImages {
		return "", fmt.Errorf("the table's stream carries %s; disable it and enable one with the view type NEW_IMAGE", view)
	}
	return *table.LatestStreamArn, nil
}
