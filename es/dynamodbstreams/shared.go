package dynamodbstreams

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Share returns a client for the sources of several projections in one process: DynamoDB Streams allows two readers of
// a shard, and a process has more projections than that. Each shard has one reader that is ahead of all others (the
// front). Its latest records are kept for a moment, so that the sources behind it get them without a call. A source
// that is further behind, for example because its projection stands still, reads with an iterator of its own until it
// has come near. Of such readers, one at a time may call. So no source waits for another one's projection.
//
// The sources notice nothing: each has its own position, checkpoints and errors.
func Share(client Streams) Streams {
	return &sharing{Streams: client, shards: make(map[string]*front)}
}

type sharing struct {
	Streams

	mu     sync.Mutex
	shards map[string]*front // by stream and shard
	tidied time.Time
}

const (
	keptRecords = maxPage         // of a shard, beside the page that was read last
	keptFor     = 2 * time.Second // longer than the other sources wait between two polls
	unusedFor   = 5 * time.Minute // before a shard's front is dropped; a closed shard is not used any more
	separator   = "\x00"          // in the iterators that sources get
	horizonMark = types.ShardIteratorTypeTrimHorizon
)

// GetShardIterator returns an iterator of our own for the kinds that sources use. The service is asked when records are
// read.
func (s *sharing) GetShardIterator(
	ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, options ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetShardIteratorOutput, error) {
	if in.ShardIteratorType != horizonMark && in.ShardIteratorType != types.ShardIteratorTypeAfterSequenceNumber {
		return s.Streams.GetShardIterator(ctx, in, options...)
	}
	at := cursor{stream: aws.ToString(in.StreamArn), shard: aws.ToString(in.ShardId), after: aws.ToString(in.SequenceNumber)}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: at.iterator()}, nil
}

// GetRecords returns the records after an iterator: from what is kept, or from the front, or else by a call of its own.
func (s *sharing) GetRecords(
	ctx context.Context, in *dynamodbstreams.GetRecordsInput, options ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetRecordsOutput, error) {
	at, own := parseCursor(aws.ToString(in.ShardIterator))
	if !own {
		return s.Streams.GetRecords(ctx, in, options...)
	}
	f := s.front(at)
	select {
	case f.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if answer := f.kept(at, int(aws.ToInt32(in.Limit))); answer != nil {
		<-f.lock
		return answer, nil
	}
	if !f.takes(at) {
		<-f.lock
		return s.behind(ctx, f, at, in.Limit)
	}
	defer func() { <-f.lock }()
	answer, err := s.read(ctx, &f.at, in.Limit)
	if err != nil {
		return nil, err
	}
	f.keep(answer.Records)
	f.closed = answer.NextShardIterator == nil
	return f.answer(f.at.after, answer.Records), nil
}

// behind reads for a source that the front is too far ahead of.
func (s *sharing) behind(ctx context.Context, f *front, at cursor, limit *int32) (*dynamodbstreams.GetRecordsOutput, error) {
	select {
	case f.catchingUp <- struct{}{}:
		defer func() { <-f.catchingUp }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	answer, err := s.read(ctx, &at, limit)
	if err != nil {
		return nil, err
	}
	out := *answer
	if answer.NextShardIterator != nil {
		out.NextShardIterator = at.iterator()
	}
	return &out, nil
}

// read makes one call at a cursor and moves the cursor on.
func (s *sharing) read(ctx context.Context, at *cursor, limit *int32) (*dynamodbstreams.GetRecordsOutput, error) {
	if at.service == "" {
		request := &dynamodbstreams.GetShardIteratorInput{StreamArn: &at.stream, ShardId: &at.shard, ShardIteratorType: horizonMark}
		if at.after != "" {
			request.ShardIteratorType, request.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, aws.String(at.after)
		}
		answer, err := s.Streams.GetShardIterator(ctx, request)
		if err != nil {
			return nil, err
		}
		at.service = aws.ToString(answer.ShardIterator)
	}
	answer, err := s.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(at.service), Limit: limit})
	if err != nil {
		if isExpired(err) || isTrimmed(err) || isNotFound(err) {
			at.service = ""
		}
		return nil, err
	}
	at.service = aws.ToString(answer.NextShardIterator)
	for _, record := range answer.Records {
		at.after = cmp.Or(sequenceOf(record), at.after)
	}
	return answer, nil
}

// front returns the front of a cursor's shard. It drops those that nobody has used for a while.
func (s *sharing) front(at cursor) *front {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.tidied) > unusedFor {
		s.tidied = now
		for name, f := range s.shards {
			if now.Sub(f.used) > unusedFor {
				delete(s.shards, name)
			}
		}
	}
	name := at.stream + separator + at.shard
	f, known := s.shards[name]
	if !known {
		f = &front{at: cursor{stream: at.stream, shard: at.shard, after: at.after}, from: at.after, lock: make(chan struct{}, 1), catchingUp: make(chan struct{}, 1)}
		s.shards[name] = f
	}
	f.used = now
	return f
}

// cursor is a place in a shard: after a record, or at the oldest one. service is the service's iterator for it; empty
// if there is none yet.
type cursor struct{ stream, shard, after, service string }

func (c cursor) iterator() *string {
	return aws.String(strings.Join([]string{c.stream, c.shard, c.after, c.service}, separator))
}

func parseCursor(iterator string) (c cursor, own bool) {
	parts := strings.Split(iterator, separator)
	if len(parts) != 4 {
		return cursor{}, false
	}
	return cursor{parts[0], parts[1], parts[2], parts[3]}, true
}

// front is the reader of a shard that is ahead of all others, and the records that it has just read.
type front struct {
	lock       chan struct{} // guards the fields below, also during a call
	catchingUp chan struct{} // held by the one that reads behind the front
	used       time.Time     // guarded by sharing.mu

	at     cursor
	closed bool // the shard has ended at the cursor
	from   string
	recent []recent // the records after from, up to the cursor
}

type recent struct {
	record types.Record
	read   time.Time
}

// kept returns the kept records after a cursor, at most limit; nil if there are none, or not all of them are kept.
func (f *front) kept(at cursor, limit int) *dynamodbstreams.GetRecordsOutput {
	atEnd := f.closed && at.after == f.at.after
	if !atEnd && !earlier(at.after, f.at.after) || earlier(at.after, f.from) {
		return nil
	}
	var records []types.Record
	after := at.after
	for _, kept := range f.recent {
		if sequence := sequenceOf(kept.record); earlier(at.after, sequence) && len(records) < limit {
			records, after = append(records, kept.record), sequence
		}
	}
	return f.answer(after, records)
}

// takes reports whether the front reads on for a source at a cursor. A source that is ahead moves the front to itself.
func (f *front) takes(at cursor) bool {
	if earlier(f.at.after, at.after) {
		f.at = cursor{stream: at.stream, shard: at.shard, after: at.after}
		f.from, f.recent, f.closed = at.after, nil, false
	}
	return at.after == f.at.after
}

// keep adds records, and drops those that are too many or too old.
func (f *front) keep(read []types.Record) {
	now := time.Now()
	for _, record := range read {
		f.recent = append(f.recent, recent{record, now})
	}
	drop := 0
	for drop < len(f.recent)-len(read) && (len(f.recent)-drop > keptRecords+len(read) || now.Sub(f.recent[drop].read) > keptFor) {
		drop++
	}
	if drop > 0 {
		f.from = sequenceOf(f.recent[drop-1].record)
		f.recent = append([]recent(nil), f.recent[drop:]...)
	}
}

// answer returns records with the iterator after them. It has nothing of the service's iterator, which is the front's.
func (f *front) answer(after string, records []types.Record) *dynamodbstreams.GetRecordsOutput {
	out := &dynamodbstreams.GetRecordsOutput{Records: records}
	if !f.closed || after != f.at.after {
		next := cursor{stream: f.at.stream, shard: f.at.shard, after: after}
		out.NextShardIterator = next.iterator()
	}
	return out
}

// earlier compares sequence numbers, which are decimal and of any length; the empty one is before all others.
func earlier(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
