package dynamodbstreams

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// client reads streams; [dynamodbstreams.Client] implements it.
type client interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Streams reads the shards for the sources of several projections in one process: DynamoDB Streams allows two readers
// of a shard. The records that were read last are kept for a moment, so that the sources behind them get them without a
// call. A source that is further behind reads by itself until it has come near. One call for a shard is made at a time,
// and no source waits for another one's projection.
type Streams struct {
	client client
	mu     sync.Mutex
	shards map[shardName]*front
}

// Share returns the shared reader of a client, which is a [dynamodbstreams.Client].
func Share(client client) *Streams { return &Streams{client: client, shards: map[shardName]*front{}} }

type shardName struct{ stream, shard string }

const (
	maxPage       = 1000            // records in one answer of the service, and those kept beside the last page
	keptFor       = 2 * time.Second // longer than the other sources wait between two polls
	keptIterators = 16              // of a shard
)

// front is the latest part of a shard that was read.
type front struct {
	calling   chan struct{}                  // guards the fields below, also during a call
	from      string                         // a sequence number: all records after it are kept
	kept      []kept                         // in order
	closed    bool                           // the shard ends after them
	iterators *simplelru.LRU[string, string] // of the service, by the sequence number that they are after
}

type kept struct {
	types.Record
	read time.Time
}

// read returns at most limit records of a shard after a sequence number, or from the oldest record on if it is empty,
// and whether the shard ends after them.
func (s *Streams) read(ctx context.Context, name shardName, after string, limit int) (records []types.Record, closed bool, err error) {
	s.mu.Lock()
	f, known := s.shards[name]
	if !known {
		iterators, _ := simplelru.NewLRU[string, string](keptIterators, nil) // fails only without a size
		f = &front{calling: make(chan struct{}, 1), from: after, iterators: iterators}
		s.shards[name] = f
	}
	s.mu.Unlock()
	select {
	case f.calling <- struct{}{}:
		defer func() { <-f.calling }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if !earlier(after, f.from) && (earlier(after, f.end()) || f.closed && after == f.end()) {
		records, closed = f.after(after, limit)
		return records, closed, nil
	}
	records, closed, err = f.call(ctx, s.client, name, after, limit)
	if err == nil {
		f.keep(after, records, closed)
	}
	if closed || isNotFound(err) { // few sources still ask for it
		s.mu.Lock()
		delete(s.shards, name)
		s.mu.Unlock()
	}
	return records, closed, err
}

func (f *front) end() string {
	if len(f.kept) == 0 {
		return f.from
	}
	return sequenceOf(f.kept[len(f.kept)-1].Record)
}

func (f *front) after(sequence string, limit int) (records []types.Record, closed bool) {
	first := slices.IndexFunc(f.kept, func(k kept) bool { return earlier(sequence, sequenceOf(k.Record)) })
	if first < 0 {
		return nil, f.closed
	}
	for _, k := range f.kept[first:min(first+limit, len(f.kept))] {
		records = append(records, k.Record)
	}
	return records, f.closed && first+limit >= len(f.kept)
}

// keep adds the records of a call, unless it was made behind the front, and drops those that are too many or too old.
func (f *front) keep(after string, records []types.Record, closed bool) {
	if earlier(after, f.end()) {
		return
	}
	if after != f.end() { // by a source that is ahead of the others
		f.from, f.kept = after, nil
	}
	now := time.Now()
	for _, record := range records {
		f.kept = append(f.kept, kept{record, now})
	}
	if f.from == "" && len(f.kept) > 0 {
		f.from = sequenceOf(f.kept[0].Record) // who is behind it may lack records that the stream has forgotten
	}
	f.closed = closed
	drop := 0
	for drop < len(f.kept)-len(records) && (len(f.kept)-drop > maxPage+len(records) || now.Sub(f.kept[drop].read) > keptFor) {
		drop++
	}
	if drop > 0 {
		f.from = sequenceOf(f.kept[drop-1].Record)
		f.kept = slices.Clone(f.kept[drop:])
	}
}

func (f *front) call(ctx context.Context, client client, name shardName, after string, limit int) (records []types.Record, closed bool, err error) {
	iterator, known := f.iterators.Get(after)
	if !known {
		request := &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &name.stream, ShardId: &name.shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
		}
		if after != "" {
			request.ShardIteratorType, request.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
		}
		answer, err := client.GetShardIterator(ctx, request)
		if err != nil {
			return nil, false, err
		}
		iterator = aws.ToString(answer.ShardIterator)
	}
	answer, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator, Limit: aws.Int32(int32(limit))})
	if err != nil && !isExpired(err) && !isTrimmed(err) && !isNotFound(err) {
		f.iterators.Add(after, iterator) // it is still valid
		return nil, false, err
	}
	f.iterators.Remove(after)
	if err != nil {
		return nil, false, err
	}
	if len(answer.Records) > 0 {
		after = sequenceOf(answer.Records[len(answer.Records)-1])
	}
	if answer.NextShardIterator != nil {
		f.iterators.Add(after, *answer.NextShardIterator)
	}
	return answer.Records, answer.NextShardIterator == nil, nil
}

// earlier compares sequence numbers, which are decimal and of any length; the empty one is before all others.
func earlier(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func sequenceOf(record types.Record) string { return aws.ToString(record.Dynamodb.SequenceNumber) }

func is[T error](err error) bool {
	_, is := errors.AsType[T](err)
	return is
}

// The stream's answers that need another iterator or position.
var (
	isNotFound = is[*types.ResourceNotFoundException]
	isExpired  = is[*types.ExpiredIteratorException]
	isTrimmed  = is[*types.TrimmedDataAccessException]
)
