package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// aws24h simulates what DynamoDB Local lacks of DynamoDB Streams: shards that split and roll over, records that are
// trimmed after 24 hours, iterators that expire, paged listings, and any fault that a test requests. Only the shards'
// times and the fake clock determine which records are visible.
type aws24h struct {
	mu         sync.Mutex
	arn        string
	shards     []*fakeShard
	pageSize   int  // shards per page of a listing; 0: 100
	trimsEmpty bool // answer TrimmedDataAccess on an empty shard, as DynamoDB Local sometimes does
	disabled   bool
	fault      func(call, shard string) error // before each call
	calls      map[string]int
}

const retention = 24 * time.Hour

// fakeShard is a shard. It is closed at its end, and listed until its last record is trimmed.
type fakeShard struct {
	id, parent string
	from, to   time.Time // to is zero while the shard is open
	records    []types.Record
	gone       bool // removed before its time
}

func (s *fakeShard) closed(now time.Time) bool { return !s.to.IsZero() && !now.Before(s.to) }

func (s *fakeShard) listed(now time.Time) bool {
	return !s.gone && !now.Before(s.from) && (!s.closed(now) || now.Sub(s.to) < retention)
}

// visible returns the range of readable records: from trimmed to written.
func (s *fakeShard) visible(now time.Time) (trimmed, written int) {
	for i, record := range s.records {
		at := *record.Dynamodb.ApproximateCreationDateTime
		if now.Sub(at) >= retention {
			trimmed = i + 1
		}
		if !at.After(now) {
			written = i + 1
		}
	}
	return trimmed, written
}

func (f *aws24h) add(s *fakeShard) *fakeShard {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shards = append(f.shards, s)
	return s
}

// change changes shards between two calls.
func (f *aws24h) change(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *aws24h) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

func (f *aws24h) enter(ctx context.Context, call, shard string) (now time.Time, err error) {
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[call]++
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	if f.fault != nil {
		err = f.fault(call, shard)
	}
	return time.Now(), err
}

func (f *aws24h) find(id string, now time.Time) (*fakeShard, error) {
	for _, s := range f.shards {
		if s.id == id && s.listed(now) {
			return s, nil
		}
	}
	return nil, &types.ResourceNotFoundException{Message: aws.String("no shard " + id)}
}

func (f *aws24h) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arn == "" {
		return nil, &tables.ResourceNotFoundException{}
	}
	return &dynamodb.DescribeTableOutput{Table: &tables.TableDescription{
		LatestStreamArn:     aws.String(f.arn),
		StreamSpecification: &tables.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: tables.StreamViewTypeNewImage},
	}}, nil
}

func (f *aws24h) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := f.enter(ctx, "DescribeStream", "")
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.StreamArn) != f.arn {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such stream")}
	}
	out := &types.StreamDescription{StreamStatus: types.StreamStatusEnabled}
	if f.disabled {
		out.StreamStatus = types.StreamStatusDisabled
	}
	size := f.pageSize
	if size == 0 {
		size = 100
	}
	skip := in.ExclusiveStartShardId != nil
	for _, s := range f.shards {
		if skip {
			skip = s.id != *in.ExclusiveStartShardId
			continue
		}
		if !s.listed(now) {
			continue
		}
		if len(out.Shards) == size {
			out.LastEvaluatedShardId = out.Shards[size-1].ShardId
			break
		}
		shard := types.Shard{ShardId: aws.String(s.id), SequenceNumberRange: &types.SequenceNumberRange{}}
		if s.parent != "" {
			shard.ParentShardId = aws.String(s.parent)
		}
		out.Shards = append(out.Shards, shard)
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: out}, nil
}

func (f *aws24h) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := aws.ToString(in.ShardId)
	now, err := f.enter(ctx, "GetShardIterator", id)
	if err != nil {
		return nil, err
	}
	s, err := f.find(id, now)
	if err != nil {
		return nil, err
	}
	at, _ := s.visible(now)
	if in.ShardIteratorType == types.ShardIteratorTypeAfterSequenceNumber {
		trimmed := at
		for at = 0; at < len(s.records) && *s.records[at].Dynamodb.SequenceNumber <= *in.SequenceNumber; {
			at++
		}
		if at < trimmed {
			return nil, &types.TrimmedDataAccessException{}
		}
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: iterator(id, at, now)}, nil
}

func (f *aws24h) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fields := strings.Split(aws.ToString(in.ShardIterator), "|")
	if len(fields) != 3 {
		return nil, fmt.Errorf("not an iterator: %q", aws.ToString(in.ShardIterator))
	}
	id := fields[0]
	at, _ := strconv.Atoi(fields[1])
	taken, _ := strconv.ParseInt(fields[2], 10, 64)
	now, err := f.enter(ctx, "GetRecords", id)
	if errors.Is(err, errEmptyPage) {
		return &dynamodbstreams.GetRecordsOutput{NextShardIterator: iterator(id, at, now)}, nil
	}
	if err != nil {
		return nil, err
	}
	if now.Sub(time.Unix(0, taken)) > 15*time.Minute {
		return nil, &types.ExpiredIteratorException{}
	}
	s, err := f.find(id, now)
	if err != nil {
		return nil, err
	}
	trimmed, written := s.visible(now)
	if at < trimmed || f.trimsEmpty && written == 0 && !s.closed(now) {
		return nil, &types.TrimmedDataAccessException{}
	}
	upTo := min(written, at+int(*in.Limit))
	out := &dynamodbstreams.GetRecordsOutput{Records: s.records[at:upTo]}
	if !s.closed(now) || upTo < written {
		out.NextShardIterator = iterator(id, upTo, now)
	}
	return out, nil
}

// errEmptyPage makes the fake return no records, although more may follow.
var errEmptyPage = errors.New("an empty page")

func iterator(shard string, at int, now time.Time) *string {
	return aws.String(fmt.Sprintf("%s|%d|%d", shard, at, now.UnixNano()))
}
