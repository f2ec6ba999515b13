package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
)

// writeDistinct measures clients that post to a thread each.
func writeDistinct(ctx context.Context, l *lab) ([]reading, error) {
	return l.writes(ctx, false, 1, 8, 32)
}

// writeHot measures 32 clients that post to one thread.
func writeHot(ctx context.Context, l *lab) ([]reading, error) { return l.writes(ctx, true, 32) }

// writes alternates between posts and raw transactions on the same tables. Both run once before measuring, because
// DynamoDB Local is slow at first.
func (l *lab) writes(ctx context.Context, hot bool, clientCounts ...int) (found []reading, err error) {
	tables, err := newTables(ctx, false)
	if err != nil {
		return nil, err
	}
	poster, err := tables.newPoster()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, poster.end(ctx)) }()
	for i, clients := range clientCounts {
		threads := make([]string, clients)
		for i := range threads {
			if i > 0 && hot {
				threads[i] = threads[0]
			} else if threads[i], err = poster.create(ctx); err != nil {
				return nil, err
			}
		}
		post := func(ctx context.Context, client int) error { return poster.post(ctx, threads[client]) }
		raw := tables.rawTransactions(clients)
		warm := []time.Duration{l.duration / 2, l.duration / 2}
		if i == 0 {
			warm = append(warm, 2*l.warmUp)
		}
		for _, duration := range warm[2:] {
			if _, err := together(ctx, clients, duration, raw); err != nil {
				return nil, err
			}
		}
		var posted, written float64
		for _, duration := range warm[:2] {
			half, err := together(ctx, clients, duration, post)
			if err != nil {
				return nil, err
			}
			rawHalf, err := together(ctx, clients, duration, raw)
			if err != nil {
				return nil, err
			}
			posted, written = posted+half/2, written+rawHalf/2
		}
		name := fmt.Sprintf("write.distinct.c%d", clients)
		if hot {
			name = fmt.Sprintf("write.hot.c%d", clients)
		}
		found = append(found, reading{name, "commands/s", posted, written, "raw transactions of two items by as many clients, on the same tables"})
	}
	return found, nil
}

// together runs do repeatedly in all clients and returns the calls per second.
func together(ctx context.Context, clients int, duration time.Duration, do func(ctx context.Context, client int) error) (float64, error) {
	var count atomic.Int64
	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() error {
			for time.Since(begun) < duration && ctx.Err() == nil {
				if err := do(ctx, client); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	return float64(count.Load()) / time.Since(begun).Seconds(), err
}

// rawTransactions returns a function that writes two items as a post does: it updates one under a condition and inserts
// one.
func (t *testTables) rawTransactions(clients int) func(ctx context.Context, client int) error {
	type line struct {
		id      string
		version int
	}
	lines := make([]line, clients)
	for i := range lines {
		lines[i].id = ulid.Make().String()
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }
	payload := text(strings.Repeat("x", eventSize))
	return func(ctx context.Context, client int) error {
		line := &lines[client]
		update := &types.Update{
			TableName: aws.String(t.snapshot), Key: map[string]types.AttributeValue{"pkey": text("raw"), "skey": text(line.id)},
			UpdateExpression:          aws.String("SET version = :next, payload = if_not_exists(payload, :payload)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":next": number(line.version + 1), ":payload": payload},
			ConditionExpression:       aws.String("attribute_not_exists(version)"),
		}
		if line.version > 0 {
			update.ConditionExpression = aws.String("version = :before")
			update.ExpressionAttributeValues[":before"] = number(line.version)
		}
		_, err := t.client.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: update},
			{Put: &types.Put{TableName: aws.String(t.journal), Item: map[string]types.AttributeValue{
				"pkey": text("raw"), "skey": text(fmt.Sprintf("%s-%d", line.id, line.version+1)), "aid": text(line.id),
				"seq_nr": number(line.version + 1), "payload": payload, "occurred_at": number(int(time.Now().UnixMilli())),
			}, ConditionExpression: aws.String("attribute_not_exists(pkey)")}},
		}})
		line.version++
		return err
	}
}
