package eventstore

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlqueue"
	"example.com/threads/es/sqlstore"
	"example.com/threads/es/stream"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/metrics"
)

// Source returns a source of the store's changes. Sources of one store share the readers of its stream. No argument is
// called before Run.
func (s *Store) Source(projector stream.Projector, checkpoints projection.Checkpoints, settings SourceSettings) (run.Source, error) {
	if s.settings.Kind == stores.DynamoDB {
		streams := settings.Streams
		streams.PollMin, streams.PollMax = settings.PollMin, settings.PollMax
		return streamed{dynamodbstreams.New(s.settings.JournalTable, dynamodbstreams.Ports{
			Places: s.places, Tables: s.aws, Streams: s.streams, Projector: projector, Checkpoints: checkpoints, Log: s.ports.Log,
		}, streams)}, nil
	}
	queue, err := sqlstore.NewQueue(s.db)
	if err != nil {
		return nil, err
	}
	return queued{sqlqueue.New(
		sqlqueue.Ports{Queue: queue, Projector: projector, Checkpoints: checkpoints, Log: s.ports.Log},
		sqlqueue.Settings{PollMin: settings.PollMin, PollMax: settings.PollMax},
	)}, nil
}

// streamed is DynamoDB Streams, which does not support Wake.
type streamed struct{ *dynamodbstreams.Source }

func (streamed) Wake() {}

func (s streamed) Measure(registry prometheus.Registerer) {
	c := s.Counters()
	metrics.Total(registry, "stream_polls_total", "Successful polls of the stream.", &c.Polls)
	metrics.Total(registry, "stream_polls_empty_total", "Polls without records.", &c.Empty)
	metrics.Total(registry, "stream_failures_total", "Failed calls and batches; each is retried.", &c.Failures)
	metrics.Total(registry, "stream_records_total", "Records handed to the projection.", &c.Records)
	metrics.Total(registry, "stream_items_skipped_total", "New items of the journal table that are not journal entries.", &c.Skipped)
	metrics.Total(registry, "stream_records_ignored_total", "Updates and deletions in the journal table.", &c.Ignored)
	metrics.Total(registry, "stream_iterators_expired_total", "Iterators that expired and were replaced.", &c.Expired)
	metrics.Total(registry, "stream_positions_lost_total", "Positions after which the stream had trimmed records.", &c.Lost)
}

// queued is the events table as a queue, which never trims events.
type queued struct{ *sqlqueue.Source }

func (q queued) Measure(registry prometheus.Registerer) {
	c := q.Counters()
	metrics.Total(registry, "queue_polls_total", "Successful polls of the queue.", &c.Polls)
	metrics.Total(registry, "queue_polls_empty_total", "Polls without events.", &c.Empty)
	metrics.Total(registry, "queue_failures_total", "Failed polls and batches; each is retried.", &c.Failures)
	metrics.Total(registry, "queue_records_total", "Events handed to the projection.", &c.Records)
	metrics.Total(registry, "queue_entries_skipped_total", "Entries without a valid aggregate.", &c.Skipped)
}
