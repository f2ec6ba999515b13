package dynamodbstreams

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

const (
	aheadLimit = 10_000          // records counted, over all shards
	aheadEvery = 3 * time.Second // between two counts
)

// ahead counts what is in the stream behind stored positions, without touching them.
type ahead struct {
	source *Source

	mu    sync.Mutex
	at    time.Time // of the last count
	found map[string]count
}

// count is what is behind a shard's position.
type count struct {
	records int
	more    bool
	first   time.Time // when the first of them was written
}

// look counts what is behind the shards' positions, unless that was done a moment ago. A shard that could not be read is
// missing from the answer. One caller counts; others wait for its answer.
func (a *ahead) look(ctx context.Context, stream string, shards []reading) map[string]count {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.at) < aheadEvery {
		return a.found
	}
	found := make(map[string]count, len(shards))
	left := aheadLimit
	for _, shard := range shards {
		counted, err := a.count(ctx, stream, shard, left)
		if err != nil {
			a.source.fail(ctx, "can't read ahead to tell how far behind the read model is", err, "shard", shard.shard)
			continue
		}
		found[shard.shard] = counted
		left -= counted.records
	}
	a.at, a.found = time.Now(), found
	return found
}

// count reads to the end of the shard or of the limit.
func (a *ahead) count(ctx context.Context, stream string, shard reading, limit int) (count, error) {
	if limit <= 0 {
		return count{records: shard.pending, more: true, first: shard.unprojected()}, nil
	}
	iterator, err := a.source.iterator(ctx, stream, shard.shard, shard.at)
	var counted count
	for empty := 0; err == nil && iterator != "" && empty < emptyPages && counted.records < limit; {
		var answer *dynamodbstreams.GetRecordsOutput
		answer, err = a.source.ports.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
			ShardIterator: aws.String(iterator), Limit: aws.Int32(int32(min(limit-counted.records, maxPage))),
		})
		if err != nil {
			break
		}
		empty++
		if len(answer.Records) > 0 {
			empty = 0
		}
		if counted.records == 0 && len(answer.Records) > 0 {
			counted.first = writtenAt(answer.Records[0])
		}
		counted.records += len(answer.Records)
		iterator = aws.ToString(answer.NextShardIterator)
	}
	if err != nil && counted.records == 0 && !isNothing(shard.at, err) {
		return count{}, fmt.Errorf("read ahead of %s: %w", shard.at, err)
	}
	counted.more = err != nil && counted.records > 0 || counted.records >= limit
	return counted, nil
}

// isNothing knows how DynamoDB Local at times says that a shard is empty.
func isNothing(at position, err error) bool { return isTrimmed(err) && at.kind != after }
