package dynamodbstreams

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// consumer reads one stream to its end: it starts readers of shards, and stores and deletes the shards' checkpoints.
// Its fields are only used by the goroutine of run.
type consumer struct {
	source     *Source
	stream     string
	lineage    *lineage
	discoverer *discoverer
	finished   chan end
	running    sync.WaitGroup
	closed     bool      // the stream gets no more shards
	owed       time.Time // when a repair was last requested
}

// end is the final position of a shard.
type end struct {
	shard string
	at    position
}

func (s *Source) consumer(name string) *consumer {
	return &consumer{
		source: s, stream: name, lineage: newLineage(),
		discoverer: &discoverer{source: s, stream: name, found: make(chan listing), wake: make(chan struct{}, 1)},
		finished:   make(chan end),
	}
}

// run returns errStreamGone, or the cause of ctx's end.
func (c *consumer) run(ctx context.Context) error {
	if err := c.restore(ctx); err != nil {
		return err
	}
	defer func() { c.source.status.reset(time.Now()) }()
	defer c.running.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.running.Go(func() { stop(c.discoverer.run(ctx)) })
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case found := <-c.discoverer.found:
			c.lineage.list(found.shards)
			c.closed = found.closed
		case ended := <-c.finished:
			s := c.lineage.shards[ended.shard]
			s.running, s.position = false, ended.at
			c.discoverer.soon()
		}
		if err := c.advance(ctx); err != nil {
			return err
		}
		if c.closed && len(c.lineage.unfinished()) == 0 {
			c.forget(ctx, c.lineage.pick(func(*shard) bool { return true }))
			return errStreamGone
		}
	}
}

// restore reads the stored positions, retrying until the database answers. Without any, nothing is known to be
// projected.
func (c *consumer) restore(ctx context.Context) error {
	var stored []projection.Checkpoint
	report := func(err error) {
		c.source.status.fail(err)
		c.source.fail(ctx, "waiting for the database of the projection; if its tables are missing, migrate it", err)
	}
	err := polling.Retry(ctx, report, func(ctx context.Context) (err error) {
		if stored, err = c.source.ports.Checkpoints.Checkpoints(ctx, c.stream); err != nil {
			return err
		}
		if len(stored) == 0 {
			if err := c.oweRepair(ctx); err != nil {
				return err
			}
		}
		return c.source.ports.Projector.Begin(ctx, false)
	})
	for _, checkpoint := range stored {
		at, err := parsePosition(checkpoint.Position)
		if err != nil { // restart at TRIM_HORIZON; the zero time makes a repair follow
			at = position{kind: begun}
			c.source.fail(ctx, "a checkpoint is corrupt; its shard is read again from the oldest record, and a repair follows", err, "shard", checkpoint.Shard)
		}
		c.lineage.restore(checkpoint.Shard, at)
	}
	return err
}

// owedFor is how long a requested repair also covers further losses. It is much shorter than the stream's retention, so
// those losses were in the journal before the repair began.
const owedFor = time.Minute

func (c *consumer) oweRepair(ctx context.Context) error {
	if time.Since(c.owed) < owedFor {
		return nil
	}
	asked := time.Now()
	if err := c.source.ports.Projector.OweRepair(ctx); err != nil {
		return err
	}
	c.owed = asked
	return nil
}

// advance starts the shards that are ready, once their beginning is stored, and deletes checkpoints that are no longer
// needed.
func (c *consumer) advance(ctx context.Context) error {
	ready := c.lineage.ready()
	c.source.status.track(c.lineage.unfinished(), time.Now())
	if err := c.begin(ctx, ready); err != nil {
		return err
	}
	for _, s := range ready {
		s.running = true
		c.start(ctx, s)
	}
	if forgettable := c.lineage.forgettable(); len(forgettable) > 0 {
		c.forget(ctx, forgettable)
	}
	c.source.status.change(func() { c.source.status.turned, c.source.status.trouble = time.Now(), nil })
	return nil
}

// begin stores the beginning of new shards, and requests a repair first if the stream may have trimmed records before
// it.
func (c *consumer) begin(ctx context.Context, ready []*shard) error {
	var unread []*shard
	mayHaveLost, now := false, time.Now()
	for _, s := range ready {
		if s.position.kind == unbegun {
			unread = append(unread, s)
			mayHaveLost = mayHaveLost || !c.lineage.covered(s, now)
		}
	}
	report := func(err error) {
		c.source.status.fail(err)
		c.source.fail(ctx, "storing the beginning of a shard failed; will retry", err)
	}
	if mayHaveLost {
		if err := polling.Retry(ctx, report, c.oweRepair); err != nil {
			return err
		}
	}
	for _, s := range unread {
		at := position{kind: begun, at: now}
		store := func(ctx context.Context) error { return c.source.store(ctx, c.stream, s.id, at) }
		if err := polling.Retry(ctx, report, store); err != nil {
			return err
		}
		s.position = at
	}
	return nil
}

func (c *consumer) start(ctx context.Context, s *shard) {
	r := &reader{
		source: c.source, stream: c.stream, shard: s.id, position: s.position,
		pace: polling.Pace{Min: c.source.settings.PollMin, Max: c.source.settings.PollMax},
	}
	c.source.status.shard(s.id, func(s *shardStatus) { s.running, s.step = true, time.Now() })
	c.running.Go(func() {
		r.run(ctx)
		if !r.position.done() {
			return
		}
		select {
		case c.finished <- end{shard: r.shard, at: r.position}:
		case <-ctx.Done():
		}
	})
}

func (c *consumer) forget(ctx context.Context, shards []*shard) {
	ids := make([]string, len(shards))
	for i, s := range shards {
		ids[i] = s.id
	}
	if err := c.source.ports.Checkpoints.Forget(ctx, c.stream, ids...); err != nil {
		c.source.fail(ctx, "deleting unneeded checkpoints failed; will retry", err)
		return
	}
	c.lineage.forget(shards)
}

// store stores a position through the projector.
func (s *Source) store(ctx context.Context, streamARN, shardID string, at position) error {
	if err := s.project(ctx, projection.Batch{Checkpoint: projection.Checkpoint{Source: streamARN, Shard: shardID, Position: at.String()}}); err != nil {
		return fmt.Errorf("store position %q of shard %s: %w", at, shardID, err)
	}
	return nil
}
