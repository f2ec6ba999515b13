package dynamodbstreams

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Ports is what a source works with.
type Ports struct {
	Tables      Tables
	Streams     Streams
	Projector   stream.RepairingProjector
	Checkpoints projection.Checkpoints
	Log         *slog.Logger
}

// Source feeds a projector from the stream of one journal table. At most one process should run one for a read model:
// two of them do no harm but do everything twice, and the service allows two readers of a shard, of which a source that is
// asked for its lag is one more.
type Source struct {
	ports    Ports
	table    string
	settings Settings
	log      *slog.Logger
	counters Counters
	slots    chan struct{} // one for each shard that may be polled and projected at the same time
	meter    meter
	ahead    ahead
}

// New makes a source for the table. Nothing is called before [Source.Run].
func New(table string, ports Ports, settings Settings) *Source {
	settings = settings.withDefaults()
	s := &Source{
		ports: ports, table: table, settings: settings, log: ports.Log,
		slots: make(chan struct{}, settings.Concurrency),
	}
	s.ahead.source = s
	return s
}

// Counters are what the source has done so far.
func (s *Source) Counters() *Counters { return &s.counters }

// Run follows the table's stream until ctx ends, and returns when the batches in hand are projected or Settings.Grace
// is over. It waits for what is not there or does not answer - the table, its stream, the database - and says so in the
// log; when the stream is replaced by another one, it goes on with that. It is called once.
func (s *Source) Run(ctx context.Context) {
	s.meter.start(time.Now())
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
		if !stream.Pause(ctx, stream.Backoff(1)) {
			return
		}
	}
}

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
