package dynamodbstreams

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Streams is what a source calls to read; [dynamodbstreams.Client] has it.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Tables is what a source calls to find the table's stream; [dynamodb.Client] has it.
type Tables interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Ports is what a source works with.
type Ports struct {
	Tables      Tables
	Streams     Streams
	Projector   stream.Projector
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}

// Counters are what a source has done since it was made. They only grow.
type Counters struct {
	Polls    atomic.Int64 // calls for records that were answered
	Empty    atomic.Int64 // of them, those without a record
	Failures atomic.Int64 // calls and batches that failed, to be tried again
	Records  atomic.Int64 // records handed over
	Skipped  atomic.Int64 // new items that are no journal entries
	Ignored  atomic.Int64 // changes and deletions, which a journal does not have
	Expired  atomic.Int64 // iterators that had to be replaced
	Lost     atomic.Int64 // positions that records may have been lost behind
}

// Source feeds a projector from the stream of one journal table. At most one process should run one for a projection:
// two of them do no harm but do everything twice, and the service allows two readers of a shard.
type Source struct {
	ports    Ports
	table    string
	settings Settings
	log      *slog.Logger
	counters Counters
	slots    chan struct{} // one for each shard that may be polled and projected at the same time
	status   status
}

// New makes a source for the table. Nothing is called before [Source.Run].
func New(table string, ports Ports, settings Settings) *Source {
	settings = settings.withDefaults()
	return &Source{
		ports: ports, table: table, settings: settings, log: ports.Log,
		slots: make(chan struct{}, settings.Concurrency),
	}
}

// Counters are what the source has done so far.
func (s *Source) Counters() *Counters { return &s.counters }

// Run follows the table's stream until ctx ends, and returns when the batches in hand are projected or Settings.Grace
// is over. It waits for what is not there or does not answer - the table, its stream, the database - and says so in the
// log; when the stream is replaced by another one, it goes on with that. It is called once.
func (s *Source) Run(ctx context.Context) {
	s.status.reset(time.Now())
	for {
		found, err := s.locate(ctx)
		if err != nil {
			return
		}
		s.log.InfoContext(ctx, "following the journal's stream", "stream", found)
		err = s.consumer(found).run(ctx)
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "looking for the journal's next stream", "reason", err)
		if !stream.Pause(ctx, nextStream) {
			return
		}
	}
}

// nextStream is the wait before the table is asked for another stream.
const nextStream = 100 * time.Millisecond

func (s *Source) project(ctx context.Context, batch projection.Batch) error {
	return stream.HandOver(ctx, s.ports.Projector, batch, s.settings.Grace)
}

func (s *Source) fail(ctx context.Context, what string, err error, attrs ...any) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.counters.Failures.Add(1)
	s.log.WarnContext(ctx, what, append(attrs, "error", err)...)
}
