package dynamodbstreams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// Ports are the dependencies of a source.
type Ports struct {
	// Place finds the entry under a key: the method of the gateway of package dynamodb.
	Place func(pkey, skey string) (id es.AggregateID, seqNr uint64, err error)
	// Tables is the client that finds the table's stream.
	Tables      dynamodb.DescribeTableAPIClient
	Streams     *Streams
	Projector   projection.Sink
	Checkpoints projection.Checkpoints
	Log         *slog.Logger // nil: slog.Default()
}

// Settings of a source. Zero fields take their defaults, which are in parentheses.
type Settings struct {
	// PollMin is the wait between two polls of a shard while records arrive (5 ms); PollMax is the longest wait without
	// records (100 ms). AWS charges for each poll of each open shard.
	PollMin, PollMax time.Duration
	// PageLimit is the number of records per poll (1,000, the maximum that the service allows).
	PageLimit int32
	// DiscoverEvery is the time between two listings of the shards (10 s). One follows the end of a shard at once.
	DiscoverEvery time.Duration
	// Concurrency is the number of shards that are polled and projected at the same time (16), each with a connection
	// to the database. All shards take turns. One whose page can't be projected keeps it, some MB, until it can.
	Concurrency int
}

// Source hands the changes of one journal table's stream to a projector. Two sources for a projection are safe but do
// everything twice. Those of several projections share their [Streams].
type Source struct {
	ports    Ports
	table    string
	settings Settings
	counters counters
	slots    chan struct{} // one per shard that may be polled and projected at the same time

	mu      sync.Mutex
	shards  map[string]*shard // of the stream that is followed
	started time.Time         // when the source began to look for its stream
	listed  time.Time         // when the shards were last listed; zero: the stream was not reached yet
	trouble error             // last error of the stream or database; nil after success
}

// New returns a source for the table. Nothing is called before [Source.Run].
func New(table string, ports Ports, s Settings) *Source {
	ports.Log = cmp.Or(ports.Log, slog.Default())
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.PageLimit = cmp.Or(s.PageLimit, maxPage)
	s.DiscoverEvery = cmp.Or(s.DiscoverEvery, 10*time.Second)
	s.Concurrency = cmp.Or(s.Concurrency, 16)
	return &Source{ports: ports, table: table, settings: s, slots: make(chan struct{}, s.Concurrency)}
}

// nextStream is the wait before looking for another stream of the table.
const nextStream = 100 * time.Millisecond

// Run follows the table's stream, and those that replace it, until ctx ends and the batches in progress are projected,
// or a grace period is over. It waits for a table, stream or database, and logs that. Call it once.
func (s *Source) Run(ctx context.Context) {
	s.reset()
	for {
		found, err := s.locate(ctx)
		if err != nil {
			return
		}
		s.ports.Log.InfoContext(ctx, "following the journal's stream", "stream", found)
		err = s.follow(ctx, found)
		if ctx.Err() != nil {
			return
		}
		s.ports.Log.WarnContext(ctx, "looking for the journal's next stream", "reason", err)
		if !polling.Pause(ctx, nextStream) {
			return
		}
	}
}

// locate waits until the table has a stream with new images, and returns its ARN. It only fails when ctx ends.
func (s *Source) locate(ctx context.Context) (found string, err error) {
	err = s.retry(ctx, "waiting for the journal's stream", func(ctx context.Context) error {
		answer, err := s.ports.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.table)})
		if _, missing := errors.AsType[*tables.ResourceNotFoundException](err); missing {
			return fmt.Errorf("table %s does not exist yet; create the tables first: %w", s.table, err)
		}
		if err == nil {
			found, err = streamOf(answer.Table)
		}
		return err
	}, "table", s.table)
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

// project projects records and stores a shard's position.
func (s *Source) project(ctx context.Context, stream, shard string, at position, records ...projection.Record) error {
	err := polling.HandOver(ctx, s.ports.Projector, projection.Batch{
		Records: records, Checkpoint: projection.Checkpoint{Source: stream, Shard: shard, Position: at.String()},
	})
	if err != nil {
		return fmt.Errorf("project %d records and position %q of shard %s: %w", len(records), at, shard, err)
	}
	return nil
}

// change changes what [Source.Lag] and [Source.Health] read.
func (s *Source) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *Source) reset() {
	s.change(func() { s.started, s.listed, s.shards = time.Now(), time.Time{}, nil })
}

// retry calls do until it succeeds, and tells each failure. It only fails when ctx ends.
func (s *Source) retry(ctx context.Context, text string, do func(context.Context) error, attrs ...any) error {
	return polling.Retry(ctx, func(err error) {
		s.change(func() { s.trouble = err })
		s.fail(ctx, text, err, attrs...)
	}, do)
}

func (s *Source) fail(ctx context.Context, text string, err error, attrs ...any) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.counters.failures.Add(1)
	s.ports.Log.WarnContext(ctx, text, append(attrs, "error", err)...)
}

// freshFor is how long a shard counts as caught up, beside PollMax: that long an idle reader waits.
const freshFor = time.Second

// Lag returns how far the projection is behind the journal, from the status of the shards. A shard that had nothing to
// read within the last second, or records of that second alone, is caught up. Otherwise its lag is the age of its
// oldest record that was read but not projected; if there is none, the time since the shard was last known to be caught
// up. The largest lag counts. Without a shard to read it is the time since the last one was caught up; if listings
// fail, the time since the last of them.
func (s *Source) Lag(context.Context) projection.Lag {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	freshFor := freshFor + s.settings.PollMax
	var lag projection.Lag
	since := func(at time.Time) {
		lag.Behind, lag.AtLeast = max(lag.Behind, now.Sub(at)), true
	}
	switch {
	case s.listed.IsZero():
		since(s.started)
	case now.Sub(s.listed) > s.silence():
		since(s.listed)
	}
	reading, caughtUp := false, s.started
	for _, one := range s.shards {
		if !one.unfinished() {
			caughtUp = later(caughtUp, one.current)
			continue
		}
		reading = true
		switch {
		case one.pending != nil && len(one.pending.records) > 0:
			lag.Records += len(one.pending.records)
			lag.Behind = max(lag.Behind, now.Sub(later(one.pending.oldest, one.current)))
			lag.AtLeast = lag.AtLeast || one.pending.read >= int(s.settings.PageLimit) || now.Sub(one.pending.asked) > freshFor
		case now.Sub(one.clear) > freshFor:
			since(one.current)
		}
	}
	if !reading && now.Sub(caughtUp) > freshFor {
		since(caughtUp)
	}
	return lag
}

// silence is how long the listings may fail.
func (s *Source) silence() time.Duration { return polling.StallAfter + s.settings.DiscoverEvery }

// Health returns what is stuck, and why, unless the shards are listed and each reader succeeded within ten seconds and
// PollMax.
func (s *Source) Health() error {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed.IsZero() {
		return fmt.Errorf("the journal's stream or the projection's database has not been reached yet: %w", cmp.Or(s.trouble, polling.ErrSilent))
	}
	if idle := now.Sub(s.listed); idle > s.silence() {
		return fmt.Errorf("listing the stream's shards has not succeeded for %s: %w", idle.Round(time.Second), cmp.Or(s.trouble, polling.ErrSilent))
	}
	for id, one := range s.shards {
		if idle := now.Sub(one.step); one.running && idle > polling.StallAfter+s.settings.PollMax {
			return fmt.Errorf("shard %s has made no progress for %s: %w", id, idle.Round(time.Second), cmp.Or(one.trouble, polling.ErrSilent))
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// counters are running totals.
type counters struct{ polls, empty, failures, records, skipped, ignored, expired, lost atomic.Int64 }

// Measure registers the running totals as metrics.
func (s *Source) Measure(registry prometheus.Registerer) {
	c := &s.counters
	polling.Total(registry, "stream_polls_total", "Successful polls of the stream, also by another projection of the process.", &c.polls)
	polling.Total(registry, "stream_polls_empty_total", "Polls without records.", &c.empty)
	polling.Total(registry, "stream_failures_total", "Failed calls and batches; each is retried.", &c.failures)
	polling.Total(registry, "stream_records_total", "Records handed to the projection.", &c.records)
	polling.Total(registry, "stream_items_skipped_total", "New items of the journal table that are not journal entries.", &c.skipped)
	polling.Total(registry, "stream_records_ignored_total", "Updates and deletions in the journal table.", &c.ignored)
	polling.Total(registry, "stream_iterators_expired_total", "Iterators that expired and were replaced.", &c.expired)
	polling.Total(registry, "stream_positions_lost_total", "Positions after which the stream had trimmed records.", &c.lost)
}
