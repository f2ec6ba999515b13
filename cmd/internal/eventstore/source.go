package eventstore

import (
	"context"
	"sync/atomic"

	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/interfaceadaptor/gateway/sqlstore"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
	"example.com/threads/interfaceadaptor/stream/relational"
	"example.com/threads/usecase/projection"
)

// Source follows the store and feeds a projector.
type Source interface {
	// Run follows until ctx ends and the batches in hand are stored. It is called once.
	Run(ctx context.Context)
	// Wake has the source look for events at once, where it can be told. It never blocks.
	Wake()
	// Lag tells how far the projection is behind, as far as the source can tell.
	Lag(ctx context.Context) stream.Lag
	// Health tells what stands still; nil: nothing does.
	Health() error
	// Counters are what the source has done so far.
	Counters() []Counter
}

// Counter is something that a source counts, for metrics.
type Counter struct {
	Name, Help string
	Value      *atomic.Int64
}

// Source makes the source of changes that belongs to the store. Nothing is called before its Run.
func (s *Store) Source(projector stream.Projector, checkpoints projection.Checkpoints, settings SourceSettings) (Source, error) {
	if s.settings.Kind == stores.DynamoDB {
		source := dynamodbstreams.New(s.settings.JournalTable, dynamodbstreams.Ports{
			Tables: awsclient.DynamoDB(s.aws), Streams: awsclient.Streams(s.aws),
			Projector: projector, Checkpoints: checkpoints, Log: s.log,
		}, dynamodbstreams.Settings{
			PollMin: settings.Polling.Min, PollMax: settings.Polling.Max, PageLimit: int32(settings.Streams.PageLimit),
			DiscoverEvery: settings.Streams.DiscoverEvery, Concurrency: settings.Streams.Concurrency,
		})
		return streamed{source}, nil
	}
	queue, err := sqlstore.NewQueue(s.db)
	if err != nil {
		return nil, err
	}
	return queued{relational.New(
		relational.Ports{Queue: queue, Projector: projector, Checkpoints: checkpoints, Log: s.log},
		relational.Settings{PollMin: settings.Polling.Min, PollMax: settings.Polling.Max},
	)}, nil
}

// streamed is DynamoDB Streams, which nobody can wake.
type streamed struct{ *dynamodbstreams.Source }

func (streamed) Wake() {}

func (s streamed) Counters() []Counter {
	c := s.Source.Counters()
	return []Counter{
		{"stream_polls_total", "Polls of the stream that were answered.", &c.Polls},
		{"stream_polls_empty_total", "Polls that brought no record.", &c.Empty},
		{"stream_failures_total", "Calls and batches that failed and were tried again.", &c.Failures},
		{"stream_records_total", "Records handed to the projection.", &c.Records},
		{"stream_items_skipped_total", "New items of the journal table that are no journal entries.", &c.Skipped},
		{"stream_records_ignored_total", "Changes and deletions in the journal table.", &c.Ignored},
		{"stream_iterators_expired_total", "Iterators that had to be replaced.", &c.Expired},
		{"stream_positions_lost_total", "Positions that the stream had forgotten records behind.", &c.Lost},
	}
}

// queued is the events table as a queue, which forgets nothing.
type queued struct{ *relational.Source }

func (q queued) Counters() []Counter {
	c := q.Source.Counters()
	return []Counter{
		{"queue_polls_total", "Polls of the queue that were answered.", &c.Polls},
		{"queue_polls_empty_total", "Polls that brought no event.", &c.Empty},
		{"queue_failures_total", "Polls and batches that failed and were tried again.", &c.Failures},
		{"queue_records_total", "Events handed to the projection.", &c.Records},
		{"queue_entries_skipped_total", "Entries that name no aggregate.", &c.Skipped},
	}
}
