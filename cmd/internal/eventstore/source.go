package eventstore

import (
	"context"
	"sync/atomic"
	"time"

	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/config"
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
	// Lag tells how far the read model is behind.
	Lag(ctx context.Context) stream.Lag
	// Health tells what stands still; nil: nothing does.
	Health() error
	// RepairDue tells that the source can't vouch for having seen everything, and is making up for it.
	RepairDue() bool
	// Counters are what the source has done so far.
	Counters() []Counter
}

// Counter is something that a source counts, for metrics.
type Counter struct {
	Name, Help string
	Value      *atomic.Int64
}

// SourceUsage tells the variables of [ReadSourceSettings] for --help.
const SourceUsage = `  STREAM_POLL_MIN            wait between two polls of a shard or queue while events come (5ms)
  STREAM_POLL_MAX            longest wait while none come (100ms); AWS charges for each poll of each open shard
  STREAM_PAGE_LIMIT          with dynamodb: records that one poll asks for, up to 1000 (1000)
  STREAM_DISCOVERY_INTERVAL  with dynamodb: time between two looks for new shards (10s)
  STREAM_CONCURRENCY         with dynamodb: shards projected at the same time, each with a connection to the database (16)
  AWS_ENDPOINT_URL_DYNAMODB_STREAMS  with dynamodb: where its streams are, when not on AWS; with DynamoDB Local the same as above (AWS)
`

// ReadSourceSettings reads how the store is followed, whichever it is.
func ReadSourceSettings(reader *config.Reader) dynamodbstreams.Settings {
	s := dynamodbstreams.Settings{
		PollMin:       reader.Duration("STREAM_POLL_MIN", 5*time.Millisecond, time.Millisecond, time.Minute),
		PollMax:       reader.Duration("STREAM_POLL_MAX", 100*time.Millisecond, time.Millisecond, time.Minute),
		PageLimit:     int32(reader.Int("STREAM_PAGE_LIMIT", 1000, 1, 1000)),
		DiscoverEvery: reader.Duration("STREAM_DISCOVERY_INTERVAL", 10*time.Second, time.Second, 5*time.Minute),
		Concurrency:   reader.Int("STREAM_CONCURRENCY", 16, 1, 1024),
	}
	reader.URL("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "") // the SDK reads it itself; here it is checked
	if s.PollMin > s.PollMax {
		reader.Wrong("STREAM_POLL_MIN is longer than STREAM_POLL_MAX; the longest wait can't be shorter than the shortest")
	}
	return s
}

// Source makes the source of changes that belongs to the store. Nothing is called before its Run.
func (s *Store) Source(projector stream.RepairingProjector, checkpoints projection.Checkpoints, settings dynamodbstreams.Settings) (Source, error) {
	if s.settings.Kind == DynamoDB {
		source := dynamodbstreams.New(s.settings.DynamoDB.JournalTable, dynamodbstreams.Ports{
			Tables: awsclient.DynamoDB(s.aws), Streams: awsclient.Streams(s.aws),
			Projector: projector, Checkpoints: checkpoints, Log: s.log,
		}, settings)
		return streamed{source}, nil
	}
	queue, err := sqlstore.NewQueue(s.db)
	if err != nil {
		return nil, err
	}
	return queued{relational.New(
		relational.Ports{Queue: queue, Projector: projector, Checkpoints: checkpoints, Log: s.log},
		relational.Settings{PollMin: settings.PollMin, PollMax: settings.PollMax},
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
		{"stream_records_unreadable_total", "Records that can't be read as an event.", &c.Unreadable},
		{"stream_items_skipped_total", "New items of the journal table that are no entries of a thread.", &c.Skipped},
		{"stream_records_ignored_total", "Changes and deletions in the journal table.", &c.Ignored},
		{"stream_iterators_expired_total", "Iterators that had to be replaced.", &c.Expired},
		{"stream_positions_lost_total", "Positions that the stream had forgotten records behind.", &c.Lost},
		{"projection_repairs_total", "Repairs from the journal that were completed.", &c.Repairs},
	}
}

// queued is the events table as a queue, which forgets nothing.
type queued struct{ *relational.Source }

func (queued) RepairDue() bool { return false }

func (q queued) Counters() []Counter {
	c := q.Source.Counters()
	return []Counter{
		{"queue_polls_total", "Polls of the queue that were answered.", &c.Polls},
		{"queue_polls_empty_total", "Polls that brought no event.", &c.Empty},
		{"queue_failures_total", "Polls and batches that failed and were tried again.", &c.Failures},
		{"queue_records_total", "Events handed to the projection.", &c.Records},
		{"queue_records_unreadable_total", "Entries that can't be read as an event.", &c.Unreadable},
		{"queue_entries_skipped_total", "Entries of other aggregates than threads.", &c.Skipped},
	}
}
