// Package dynamo opens event stores of every kind, for the programs that link DynamoDB. standalone does not.
package dynamo

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/eventstore"
)

// Open connects to the store.
func Open(ctx context.Context, settings eventstore.Settings, ports eventstore.Ports) (*eventstore.Store, error) {
	if settings.Kind != eventstore.DynamoDB {
		return eventstore.Open(ctx, settings, ports)
	}
	config, err := awsclient.Load(ctx)
	if err != nil {
		return nil, err
	}
	consumed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dynamodb_consumed_capacity_units_total",
		Help: "Read and write units that answered calls took, by table, index (empty: the table itself) and operation.",
	}, []string{"table", "index", "operation"})
	client := awsclient.DynamoDB(config, awsclient.CountCapacity(func(table, index, operation string, units float64) {
		consumed.WithLabelValues(table, index, operation).Add(units)
	}))
	gateway, err := dynamodb.New(client, dynamodb.Settings{
		JournalTable: settings.JournalTable, SnapshotTable: settings.SnapshotTable, Shards: settings.Shards,
		SnapshotKeep: settings.SnapshotKeep, SnapshotTTL: settings.SnapshotTTL, Clock: time.Now,
	}, ports.Log)
	if err != nil {
		return nil, err
	}
	streams := dynamodbstreams.Share(awsclient.Streams(config))
	store := &eventstore.Store{
		Gateway: gateway,
		Check:   gateway.Check,
		Trouble: func(context.Context) error { return nil },
		Metrics: []prometheus.Collector{consumed},
		Source: func(projector projection.Sink, checkpoints projection.Checkpoints, polls eventstore.Polls) (run.Source, error) {
			return dynamodbstreams.New(settings.JournalTable, dynamodbstreams.Ports{
				Places: gateway, Tables: client, Streams: streams, Projector: projector, Checkpoints: checkpoints, Log: ports.Log,
			}, dynamodbstreams.Settings{
				PollMin: polls.Min, PollMax: polls.Max, PageLimit: polls.PageLimit, DiscoverEvery: polls.Discover, Concurrency: polls.Concurrency,
			}), nil
		},
		Close:    func(context.Context) error { return nil },
		DynamoDB: client,
	}
	store.Watch(settings, gateway.Now)
	return store, nil
}
