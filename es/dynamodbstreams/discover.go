package dynamodbstreams

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/internal/polling"
)

// listing is all shards of a stream at one time.
type listing struct {
	shards []types.Shard
	closed bool // no shard will be added
}

// errStreamGone: the stream no longer exists, or it is disabled and read to the end.
var errStreamGone = errors.New("the stream has ended")

// minDiscover is the wait before shards are listed again after one has ended. AWS allows ten calls a second.
const minDiscover = 250 * time.Millisecond

// discoverer lists the shards every DiscoverEvery, and more often for a while after soon was called.
type discoverer struct {
	source *Source
	stream string
	found  chan listing // unbuffered: a listing is taken before the next one is made
	wake   chan struct{}
}

// run returns errStreamGone, or ctx's error.
func (d *discoverer) run(ctx context.Context) error {
	every := d.source.settings.DiscoverEvery
	for wait := every; ; wait = min(2*wait, every) {
		found, err := d.list(ctx)
		if err != nil {
			return err
		}
		select {
		case d.found <- found:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(wait):
		case <-d.wake:
			wait = min(minDiscover, every)
		case <-ctx.Done():
		}
	}
}

// soon triggers a listing at once, and further ones in quick succession.
func (d *discoverer) soon() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// list reads all pages of the description. A partial listing is discarded, because a child could seem to have no
// parent. It fails when the stream is gone or ctx has ended; after other errors it retries the page.
func (d *discoverer) list(ctx context.Context) (listing, error) {
	var all listing
	request := &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(d.stream)}
	for {
		description, err := d.page(ctx, request)
		if err != nil {
			return listing{}, err
		}
		all.shards = append(all.shards, description.Shards...)
		all.closed = description.StreamStatus == types.StreamStatusDisabled
		if description.LastEvaluatedShardId == nil {
			return all, nil
		}
		request.ExclusiveStartShardId = description.LastEvaluatedShardId
	}
}

func (d *discoverer) page(ctx context.Context, request *dynamodbstreams.DescribeStreamInput) (*types.StreamDescription, error) {
	var description *types.StreamDescription
	report := func(err error) {
		d.source.status.fail(err)
		d.source.fail(ctx, "listing the stream's shards failed; will retry", err)
	}
	err := polling.Retry(ctx, report, func(ctx context.Context) error {
		answer, err := d.source.ports.Streams.DescribeStream(ctx, request)
		switch {
		case isNotFound(err):
			return nil
		case err != nil:
			return err
		case answer.StreamDescription == nil:
			return errors.New("the description of the stream is empty")
		}
		description = answer.StreamDescription
		return nil
	})
	if err == nil && description == nil {
		return nil, errStreamGone
	}
	return description, err
}
