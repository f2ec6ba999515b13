package dynamodbstreams

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// Streams is the client that reads the stream; [dynamodbstreams.Client] implements it.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Tables is the client that finds the table's stream; [dynamodb.Client] implements it.
type Tables interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Places knows where programs look for an entry; package dynamodb implements it.
type Places interface {
	Place(pkey, skey string) (id es.AggregateID, seqNr uint64, err error)
}

// Ports are the dependencies of a source.
type Ports struct {
	Places      Places
	Tables      Tables
	Streams     Streams
	Projector   projection.Sink
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}

// Counters are running totals.
type Counters struct {
	Polls    atomic.Int64 // answered polls
	Empty    atomic.Int64 // of them, those without records
	Failures atomic.Int64 // failed calls and batches; each is retried
	Records  atomic.Int64 // records handed over
	Skipped  atomic.Int64 // new items that are not journal entries
	Ignored  atomic.Int64 // updates and deletions, which a journal must not have
	Expired  atomic.Int64 // expired iterators
	Lost     atomic.Int64 // positions after which records may have been lost
}

// Source hands the changes of one journal table's stream to a projector. At most one process should run a source for a
// projection: two are safe but do everything twice. The sources of several projections use one client of [Share].
type Source struct {
	ports    Ports
	table    string
	settings Settings
	log      *slog.Logger
	counters Counters
	slots    chan struct{} // one per shard that may be polled and projected at the same time
	status   status
}

// New returns a source for the table. Nothing is called before [Source.Run].
func New(table string, ports Ports, settings Settings) *Source {
	settings = settings.withDefaults()
	return &Source{
		ports: ports, table: table, settings: settings, log: ports.Log,
		slots: make(chan struct{}, settings.Concurrency),
	}
}

// Counters returns the running totals.
func (s *Source) Counters() *Counters { return &s.counters }

// Run follows the table's stream until ctx ends. It returns when the batches in progress are projected or
// Settings.Grace is over. It waits for a table, stream or database that is missing or does not answer, and logs that.
// When the stream is replaced, it continues with the new one. Call it once.
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
		if !polling.Pause(ctx, nextStream) {
			return
		}
	}
}

// nextStream is the wait before looking for another stream of the table.
const nextStream = 100 * time.Millisecond

func (s *Source) project(ctx context.Context, batch projection.Batch) error {
	return polling.HandOver(ctx, s.ports.Projector, batch, s.settings.Grace)
}

func (s *Source) fail(ctx context.Context, text string, err error, attrs ...any) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.counters.Failures.Add(1)
	s.log.WarnContext(ctx, text, append(attrs, "error", err)...)
}
