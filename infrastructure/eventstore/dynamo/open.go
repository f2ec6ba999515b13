// Package dynamo opens event stores of every kind, for the programs that link DynamoDB. standalone does not.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkstreams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/eventstore"
)

// Load reads where to connect, and as whom, from the SDK's own variables and files. It does not connect.
func Load(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return cfg, fmt.Errorf("read the AWS settings: %w", err)
	}
	if cfg.Region == "" {
		return cfg, errors.New("AWS_REGION is not set: name the region of the tables, such as eu-central-1 " +
			"(for DynamoDB Local use any region, but always the same)")
	}
	return dynamodb.Tuned(cfg), nil
}

// Check fails if settings are missing that [OpenAny] needs: no retry would help.
func Check(ctx context.Context, settings eventstore.Settings) (err error) {
	if settings.Kind == eventstore.DynamoDB {
		_, err = Load(ctx)
	}
	return err
}

// OpenAny connects to a store of any kind. With DynamoDB, the options are its client's.
func OpenAny(
	ctx context.Context, settings eventstore.Settings, log *slog.Logger, tracer trace.TracerProvider, options ...func(*sdk.Options),
) (*eventstore.Store, error) {
	if settings.Kind != eventstore.DynamoDB {
		return eventstore.Open(ctx, settings, log, tracer)
	}
	config, err := Load(ctx)
	if err != nil {
		return nil, err
	}
	client := dynamodb.NewClient(config, options...)
	gateway, err := dynamodb.New(client, dynamodb.Settings{
		JournalTable: settings.JournalTable, SnapshotTable: settings.SnapshotTable, Shards: settings.Shards,
		SnapshotKeep: settings.SnapshotKeep, SnapshotTTL: settings.SnapshotTTL,
	})
	if err != nil {
		return nil, err
	}
	streams := dynamodbstreams.Share(sdkstreams.NewFromConfig(config))
	store := &eventstore.Store{
		Gateway:       gateway,
		Check:         gateway.Check,
		SnapshotEvery: settings.SnapshotEvery,
		Trouble:       func(context.Context) error { return nil },
		Source: func(projector projection.Sink, checkpoints projection.Checkpoints, polls eventstore.Polls) (run.Source, error) {
			return dynamodbstreams.New(settings.JournalTable, dynamodbstreams.Ports{
				Place: gateway.Place, Tables: client, Streams: streams, Projector: projector, Checkpoints: checkpoints, Log: log,
			}, dynamodbstreams.Settings{
				PollMin: polls.Min, PollMax: polls.Max, PageLimit: polls.PageLimit, DiscoverEvery: polls.Discover, Concurrency: polls.Concurrency,
			}), nil
		},
		Close: func(context.Context) error {
			if pooled, is := config.HTTPClient.(interface{ CloseIdleConnections() }); is {
				pooled.CloseIdleConnections()
			}
			return nil
		},
		DynamoDB: client,
	}
	store.Watch(settings.ClockTolerance, gateway.Now)
	return store, nil
}
