package dynamodbstreams

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// emptyPages is how many empty pages show that a shard is caught up: after one, records may follow.
const emptyPages = 3

// reader reads one shard. Its position only advances after everything before it is stored.
type reader struct {
	*Source
	*shard
	stream string

	pace    polling.Pace
	read    time.Time // when the shard was last read from its position; zero: never
	trimmed bool      // the stream trimmed records while the shard began
}

// run returns when the shard is done or ctx has ended.
func (r *reader) run(ctx context.Context) {
	for wait := time.Duration(0); !r.position.done() && polling.Pause(ctx, wait); {
		err := polling.Retry(ctx, func(err error) {
			r.change(func() { r.shard.trouble = err })
			r.fail(ctx, "reading a shard failed; will retry from the same position", err, "shard", r.id, "position", r.position.String())
		}, func(ctx context.Context) (err error) {
			wait, err = r.next(ctx)
			return err
		})
		if err == nil {
			r.change(func() { r.step, r.shard.trouble = time.Now(), nil })
		}
	}
}

// next reads a page and hands it over, or hands over the page that failed the last time.
func (r *reader) next(ctx context.Context) (wait time.Duration, err error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if r.pending == nil {
		if err := r.readPage(ctx); err != nil || r.pending == nil {
			return r.settings.PollMax, err
		}
	}
	return r.deliver(ctx)
}

// readPage reads a page at the position. There is none after an error that needs another iterator or position.
func (r *reader) readPage(ctx context.Context) error {
	asked := time.Now()
	if r.position.kind == begun && !r.position.trusted(asked) && !(position{at: r.read}).trusted(asked) {
		return r.lost(ctx, begun, "nothing was read from the shard since it began, and that was too long ago")
	}
	read, closed, err := r.ports.Streams.read(ctx, shardName{r.stream, r.id}, r.position.sequence, int(r.settings.PageLimit))
	switch {
	case err == nil:
		r.counters.polls.Add(1)
		r.read = asked.Round(0) // by the clock on the wall, which goes on while the machine sleeps
		p := r.pageOf(ctx, asked, read, closed)
		r.change(func() { r.pending = p })
	case isExpired(err):
		r.counters.expired.Add(1)
		return nil
	case isTrimmed(err) && r.position.kind == begun && r.trimmed:
		// Already reported. DynamoDB Local answers like this for an empty shard until its first record arrives.
		r.change(func() { r.sawNothing(asked) })
		return nil
	case isTrimmed(err):
		r.trimmed = r.position.kind == begun
		return r.lost(ctx, begun, "the stream has trimmed records")
	case isNotFound(err) && !r.isListed():
		return r.lost(ctx, gone, "the stream has deleted the shard")
	}
	return err
}

func (r *reader) isListed() (listed bool) {
	r.change(func() { listed = r.unlisted == 0 })
	return listed
}

// lost requests a repair and continues at the oldest record that the stream still has.
func (r *reader) lost(ctx context.Context, nextKind kind, cause string) error {
	next := position{kind: nextKind, at: time.Now()}
	r.ports.Log.WarnContext(ctx, "the stream may have lost records; a repair will compare the rows with the journal",
		"shard", r.id, "position", r.position.String(), "reason", cause)
	if err := r.ports.Projector.OweRepair(ctx); err != nil {
		return err
	}
	if err := r.project(ctx, r.stream, r.id, next); err != nil {
		return err
	}
	r.counters.lost.Add(1)
	r.change(func() { r.position = next })
	return nil
}

// deliver hands the page over, with the position after it.
func (r *reader) deliver(ctx context.Context) (wait time.Duration, err error) {
	p := r.pending
	if p.position != r.position {
		if err := r.project(ctx, r.stream, r.id, p.position, p.records...); err != nil {
			return 0, err
		}
	}
	r.change(func() {
		r.position, r.pending = p.position, nil
		r.current = later(r.current, p.newest)
		if p.read == 0 {
			r.sawNothing(p.asked)
		} else { // in a shard, records are in the order of their times
			r.empties, r.clear = 0, later(r.clear, p.position.at.Add(-r.settings.PollMax))
		}
	})
	r.counters.records.Add(int64(len(p.records)))
	if p.read == 0 {
		r.counters.empty.Add(1)
	}
	return r.pace.Next(p.read, int(r.settings.PageLimit), time.Now()), nil
}

// sawNothing records that there was no record at the given time.
func (s *shard) sawNothing(at time.Time) {
	if s.empties++; s.empties >= emptyPages {
		s.clear, s.current = at, later(s.current, at)
	}
}

// page is an answer of the stream that is not projected yet.
type page struct {
	records        []projection.Record
	read           int       // number of stream records, including those that are not handed over
	position       position  // the shard's position after the page
	oldest, newest time.Time // times of its first and last record
	asked          time.Time // when it was requested
}

// pageOf converts an answer. Items that are not journal entries are logged and counted.
func (r *reader) pageOf(ctx context.Context, asked time.Time, read []types.Record, closed bool) *page {
	p := &page{read: len(read), position: r.position, asked: asked}
	var skipped, ignored int64
	var reason error
	for _, change := range read {
		// The service rounds the time down to the second, DynamoDB Local to the minute.
		created := aws.ToTime(change.Dynamodb.ApproximateCreationDateTime)
		p.position = position{kind: after, sequence: sequenceOf(change), at: created}
		if change.EventName != types.OperationTypeInsert {
			ignored++
			continue
		}
		record, occurred, err := r.ports.Record(change.Dynamodb.NewImage)
		if err != nil {
			skipped, reason = skipped+1, err
			continue
		}
		p.records = append(p.records, record)
		p.newest = later(created, occurred)
		if p.oldest.IsZero() {
			p.oldest = p.newest
		}
	}
	if closed {
		p.position = position{kind: ended, at: p.position.at}
	}
	r.counters.skipped.Add(skipped)
	r.counters.ignored.Add(ignored)
	if skipped > 0 {
		r.ports.Log.WarnContext(ctx, "skipped items of the journal table that are not journal entries", "records", skipped, "up_to", p.position.sequence, "last_reason", reason)
	}
	if ignored > 0 {
		r.ports.Log.WarnContext(ctx, "ignored updates and deletions in the journal table: entries never change, and only an archive removes some", "records", ignored, "up_to", p.position.sequence)
	}
	return p
}

// Record converts an item's new image, whose payload may be text or binary, and returns when its event happened, to the
// millisecond. It fails for an item that is not where programs look for it. It needs Place alone.
func (p Ports) Record(image map[string]types.AttributeValue) (record projection.Record, occurred time.Time, err error) {
	record.Key, record.SeqNr, err = p.Place(text(image["pkey"]), text(image["skey"]))
	if err == nil {
		err = record.Key.Check()
	}
	if err == nil && record.SeqNr == 0 {
		err = errors.New("it has the number 0")
	}
	record.Payload = []byte(text(image["payload"]))
	if millis, err := strconv.ParseInt(text(image["occurred_at"]), 10, 64); err == nil {
		occurred = time.UnixMilli(millis)
	}
	return record, occurred, err
}

func text(value types.AttributeValue) string {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return value.Value
	case *types.AttributeValueMemberB:
		return string(value.Value)
	}
	return ""
}
