package dynamodbstreams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// reader reads one shard. Its position only advances after everything before it is stored; all other fields can be lost
// and are read again.
type reader struct {
	source *Source
	stream string
	shard  string

	position position
	iterator string // empty: request one for the position
	page     *page  // read but not projected
	pace     polling.Pace
	trimmed  bool // the stream trimmed records while the shard began
}

// run returns when the shard is done or ctx has ended.
func (r *reader) run(ctx context.Context) {
	pauses := polling.NewBackoff()
	for {
		wait, err := r.step(ctx)
		if err != nil {
			wait = pauses.NextBackOff()
			r.update(func(s *shardStatus) { s.trouble = err })
			r.source.fail(ctx, "reading a shard failed; will retry from the same position", err, "shard", r.shard, "position", r.position.String())
		} else {
			pauses.Reset()
			r.update(func(s *shardStatus) { s.step, s.trouble = time.Now(), nil })
		}
		if r.position.done() || !polling.Pause(ctx, wait) {
			return
		}
	}
}

// update changes the shard's status.
func (r *reader) update(change func(*shardStatus)) { r.source.status.shard(r.shard, change) }

// step reads a page and hands it over, or hands over the page that failed the last time.
func (r *reader) step(ctx context.Context) (wait time.Duration, err error) {
	select {
	case r.source.slots <- struct{}{}:
		defer func() { <-r.source.slots }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if r.page == nil {
		if err := r.read(ctx); err != nil {
			return 0, err
		}
	}
	if r.page == nil { // the iterator was invalid; the next step requests a new one
		return r.source.settings.PollMax, nil
	}
	return r.deliver(ctx)
}

func (r *reader) read(ctx context.Context) error {
	if r.position.kind == begun && r.iterator == "" && !r.position.trusted(time.Now()) {
		return r.lost(ctx, begun, "nothing was read from the shard since it began, and that was too long ago")
	}
	if r.iterator == "" {
		iterator, err := r.source.iterator(ctx, r.stream, r.shard, r.position)
		if err != nil {
			return r.handleError(ctx, err)
		}
		r.iterator = iterator
	}
	asked := time.Now()
	answer, err := r.source.ports.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: aws.String(r.iterator), Limit: aws.Int32(r.source.settings.PageLimit),
	})
	if err != nil {
		return r.handleError(ctx, err)
	}
	r.source.counters.Polls.Add(1)
	r.page = r.source.pageOf(ctx, r.position, asked, answer)
	r.update(func(s *shardStatus) { s.pending = r.page })
	return nil
}

// handleError handles the stream's errors that need another iterator or position.
func (r *reader) handleError(ctx context.Context, err error) error {
	switch {
	case isExpired(err):
		r.source.counters.Expired.Add(1)
		r.iterator = ""
		return nil
	case isTrimmed(err) && r.position.kind == begun && r.trimmed:
		// Already reported. DynamoDB Local answers like this for an empty shard until its first record arrives.
		r.iterator = ""
		r.update(func(s *shardStatus) { s.sawNothing(time.Now()) })
		return nil
	case isTrimmed(err):
		r.trimmed = r.position.kind == begun
		return r.lost(ctx, begun, "the stream has trimmed records")
	case isNotFound(err) && !r.listed():
		return r.lost(ctx, gone, "the stream has deleted the shard")
	}
	return err
}

func (r *reader) listed() (listed bool) {
	r.update(func(s *shardStatus) { listed = s.listed })
	return listed
}

// lost requests a repair and continues at the oldest record that the stream still has.
func (r *reader) lost(ctx context.Context, nextKind kind, cause string) error {
	next := position{kind: nextKind, at: time.Now()}
	r.source.log.WarnContext(ctx, "the stream may have lost records; a repair will compare the rows with the journal",
		"shard", r.shard, "position", r.position.String(), "reason", cause)
	if err := r.source.ports.Projector.OweRepair(ctx); err != nil {
		return err
	}
	if err := r.source.store(ctx, r.stream, r.shard, next); err != nil {
		return err
	}
	r.source.counters.Lost.Add(1)
	r.position, r.iterator = next, ""
	return nil
}

// deliver hands the page over, with the position after it.
func (r *reader) deliver(ctx context.Context) (wait time.Duration, err error) {
	p := r.page
	if p.position != r.position {
		err := r.source.project(ctx, projection.Batch{
			Records:    p.records,
			Checkpoint: projection.Checkpoint{Source: r.stream, Shard: r.shard, Position: p.position.String()},
		})
		if err != nil {
			return 0, fmt.Errorf("project %d records: %w", len(p.records), err)
		}
	}
	r.position, r.iterator, r.page = p.position, p.next, nil
	r.update(func(s *shardStatus) { s.projected(p) })
	r.source.counters.Records.Add(int64(len(p.records)))
	if p.read == 0 {
		r.source.counters.Empty.Add(1)
	}
	return r.pace.Next(p.read, int(r.source.settings.PageLimit), time.Now()), nil
}

// iterator requests an iterator at the position.
func (s *Source) iterator(ctx context.Context, streamARN, shardID string, at position) (string, error) {
	request := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: aws.String(streamARN), ShardId: aws.String(shardID), ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if at.kind == after {
		request.ShardIteratorType = types.ShardIteratorTypeAfterSequenceNumber
		request.SequenceNumber = aws.String(at.sequence)
	}
	answer, err := s.ports.Streams.GetShardIterator(ctx, request)
	if err != nil {
		return "", fmt.Errorf("get an iterator of shard %s at %s: %w", shardID, at, err)
	}
	return aws.ToString(answer.ShardIterator), nil
}

func is[T error](err error) bool {
	var fault T
	return errors.As(err, &fault)
}

// The stream's answers that need another iterator or position.
var (
	isNotFound = is[*types.ResourceNotFoundException]
	isExpired  = is[*types.ExpiredIteratorException]
	isTrimmed  = is[*types.TrimmedDataAccessException]
)
