package dynamodbstreams

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// shard is a shard that the stream lists or that has a checkpoint. DynamoDB names at most one parent per shard. Its
// fields are guarded by Source.mu.
type shard struct {
	id, parent string
	position   position
	unlisted   int  // consecutive listings without the shard
	running    bool // it has a reader

	current time.Time // no unprojected record is known to be older
	clear   time.Time // when there was last nothing older to read, by the clock of the service
	empties int       // consecutive empty pages
	pending *page     // read but not projected
	step    time.Time // the reader's last success
	trouble error     // the reader's last error; nil after success
}

// follower reads one stream to its end: it starts readers of shards, and stores and deletes the shards' checkpoints.
type follower struct {
	*Source
	stream  string
	done    chan struct{} // a shard was read to its end
	running sync.WaitGroup
}

// errStreamGone: the stream no longer exists, or it is disabled and read to the end.
var errStreamGone = errors.New("the stream has ended")

const (
	// minDiscover is the wait before shards are listed again after one has ended. AWS allows ten calls a second.
	minDiscover = 100 * time.Millisecond

	// forgetAfter is how many listings must lack a shard before its checkpoint is deleted: some omit one by mistake.
	forgetAfter = 3
)

// follow returns errStreamGone, or the error of ctx.
func (s *Source) follow(ctx context.Context, stream string) error {
	f := &follower{Source: s, stream: stream, done: make(chan struct{}, 1)}
	defer s.reset()
	defer f.running.Wait()
	if err := f.restore(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for wait := s.settings.DiscoverEvery; ; wait = min(2*wait, s.settings.DiscoverEvery) {
		closed, err := f.list(ctx)
		if err != nil {
			return err
		}
		if err := f.start(ctx); err != nil {
			return err
		}
		over := closed && len(f.pick((*shard).unfinished)) == 0
		f.forget(ctx, over)
		if over {
			return errStreamGone
		}
		select {
		case <-time.After(wait):
		case <-f.done:
			if wait = min(minDiscover, s.settings.DiscoverEvery); !polling.Pause(ctx, wait) {
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// restore reads the stored positions. A shard that is not listed yet has no parent to wait for: either it had begun, so
// its parent was done, or it is done itself.
func (f *follower) restore(ctx context.Context) error {
	var stored []projection.Checkpoint
	err := f.retry(ctx, "waiting for the database of the projection; if its tables are missing, migrate it", func(ctx context.Context) (err error) {
		if stored, err = f.ports.Checkpoints.Checkpoints(ctx, f.stream); err != nil {
			return err
		}
		return f.ports.Projector.Begin(ctx, false)
	})
	shards := map[string]*shard{}
	for _, checkpoint := range stored {
		at, err := parsePosition(checkpoint.Position)
		if err != nil { // restart at TRIM_HORIZON; the zero time makes a repair follow
			at = position{kind: begun}
			f.fail(ctx, "a checkpoint is corrupt; its shard is read again from the oldest record, and a repair follows", err, "shard", checkpoint.Shard)
		}
		shards[checkpoint.Shard] = &shard{id: checkpoint.Shard, position: at, unlisted: 1, current: time.Now()}
	}
	f.change(func() { f.shards = shards })
	return err
}

// list updates the shards from a complete listing: in a partial one, a child could seem to have no parent. It fails
// when the stream is gone or ctx has ended. A closed stream gets no more shards.
func (f *follower) list(ctx context.Context) (closed bool, err error) {
	var listed []types.Shard
	request := &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(f.stream)}
	for more := true; more; more = request.ExclusiveStartShardId != nil {
		var gone error
		err := f.retry(ctx, "listing the stream's shards failed; will retry", func(ctx context.Context) error {
			answer, err := f.ports.Streams.client.DescribeStream(ctx, request)
			switch {
			case isNotFound(err):
				gone = errStreamGone
				return nil
			case err != nil:
				return err
			case answer.StreamDescription == nil:
				return errors.New("the description of the stream is empty")
			}
			listed = append(listed, answer.StreamDescription.Shards...)
			closed = answer.StreamDescription.StreamStatus == types.StreamStatusDisabled
			request.ExclusiveStartShardId = answer.StreamDescription.LastEvaluatedShardId
			return nil
		})
		if err := cmp.Or(err, gone); err != nil {
			return false, err
		}
	}
	f.change(func() {
		for _, one := range f.shards {
			one.unlisted++
		}
		for _, description := range listed {
			id := aws.ToString(description.ShardId)
			one, known := f.shards[id]
			if !known || one.position.kind == gone { // gone: it was missing and is listed again
				one = &shard{id: id, current: time.Now()}
				f.shards[id] = one
			}
			one.parent, one.unlisted = aws.ToString(description.ParentShardId), 0
		}
	})
	return closed, nil
}

func (s *shard) unfinished() bool { return !s.position.done() }

// pick returns shards in order. The caller may read what no reader changes.
func (f *follower) pick(wanted func(*shard) bool) []*shard {
	f.mu.Lock()
	defer f.mu.Unlock()
	sorted := slices.SortedFunc(maps.Values(f.shards), func(a, b *shard) int { return cmp.Compare(a.id, b.id) })
	return slices.DeleteFunc(sorted, func(one *shard) bool { return !wanted(one) })
}

// start starts readers of the shards that are not done and have no unfinished parent, once their beginning is stored.
// It requests a repair first if the stream may have trimmed records before that.
func (f *follower) start(ctx context.Context) error {
	ready := f.pick(func(one *shard) bool {
		parent := f.shards[one.parent]
		return !one.running && one.unfinished() && (parent == nil || parent.position.done())
	})
	now := time.Now()
	if slices.ContainsFunc(ready, func(one *shard) bool { return one.position.kind == unbegun && !f.covered(one, now) }) {
		if err := f.retry(ctx, "requesting a repair failed; will retry", f.ports.Projector.OweRepair); err != nil {
			return err
		}
	}
	for _, one := range ready {
		at := one.position
		if at.kind == unbegun {
			at = position{kind: begun, at: now}
			store := func(ctx context.Context) error { return f.project(ctx, f.stream, one.id, at) }
			err := f.retry(ctx, "storing the beginning of a shard failed; will retry", store)
			if err != nil {
				return err
			}
		}
		f.change(func() { one.running, one.position, one.step = true, at, time.Now() })
		f.running.Go(func() { f.read(ctx, one) })
	}
	f.change(func() { f.listed, f.trouble = time.Now(), nil })
	return nil
}

// covered reports whether the stream has all records of a shard that has not begun: its parent has just ended.
func (f *follower) covered(one *shard, now time.Time) bool {
	parent := f.shards[one.parent] // it is done, and has no reader
	return parent != nil && parent.position.kind == ended && parent.position.trusted(now)
}

// read reads a shard until it is done or ctx has ended.
func (f *follower) read(ctx context.Context, one *shard) {
	r := &reader{Source: f.Source, stream: f.stream, shard: one, pace: polling.Pace{Min: f.settings.PollMin, Max: f.settings.PollMax}}
	r.run(ctx)
	if !r.position.done() {
		return
	}
	f.change(func() { one.running = false })
	select {
	case f.done <- struct{}{}:
	default: // a listing is already requested
	}
}

// forget deletes the checkpoints that are no longer needed: of shards that are done and no longer listed, and whose
// children have all begun; or all of them when the stream is over.
func (f *follower) forget(ctx context.Context, all bool) {
	waiting := map[string]bool{}
	for _, one := range f.pick(func(one *shard) bool { return one.position.kind == unbegun }) {
		waiting[one.parent] = true
	}
	var ids []string
	for _, one := range f.pick(func(one *shard) bool {
		return all || one.position.done() && one.unlisted >= forgetAfter && !waiting[one.id]
	}) {
		ids = append(ids, one.id)
	}
	if len(ids) == 0 {
		return
	}
	if err := f.ports.Checkpoints.Forget(ctx, f.stream, ids...); err != nil {
		f.fail(ctx, "deleting unneeded checkpoints failed; will retry", err)
		return
	}
	f.change(func() {
		maps.DeleteFunc(f.shards, func(id string, _ *shard) bool { return slices.Contains(ids, id) })
	})
}
