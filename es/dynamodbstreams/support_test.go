package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es"
	"example.com/threads/es/dynamodbstreams"
)

var discard = slog.New(slog.DiscardHandler)

const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/journal/stream/1"

// recordOf returns the stream's record of event seqNr of the tests' only aggregate.
func recordOf(seqNr uint64, at time.Time) types.Record {
	const id = "01H42KBHCW1BZG504J4ZXKA2F2"
	return types.Record{
		EventName: types.OperationTypeInsert,
		Dynamodb: &types.StreamRecord{
			SequenceNumber: aws.String(fmt.Sprintf("%021d", seqNr)), ApproximateCreationDateTime: aws.Time(at),
			NewImage: map[string]types.AttributeValue{
				"pkey":        &types.AttributeValueMemberS{Value: "order-7"},
				"skey":        &types.AttributeValueMemberS{Value: fmt.Sprint("order-", id, "-", seqNr)},
				"aid":         &types.AttributeValueMemberS{Value: "order-" + id},
				"seq_nr":      &types.AttributeValueMemberN{Value: fmt.Sprint(seqNr)},
				"payload":     &types.AttributeValueMemberS{Value: `{"number":` + fmt.Sprint(seqNr) + `}`},
				"occurred_at": &types.AttributeValueMemberN{Value: fmt.Sprint(at.UnixMilli())},
			},
		},
	}
}

// fakePlace knows one shard.
func fakePlace(pkey, skey string) (id es.AggregateID, seqNr uint64, err error) {
	at := max(strings.LastIndexByte(skey, '-'), 0)
	if id, err = es.ParseAggregateID("", skey[:at]); err == nil {
		seqNr, err = strconv.ParseUint(skey[at+1:], 10, 64)
	}
	if err == nil && pkey != "order-7" {
		err = fmt.Errorf("the item at %s and %s is misplaced", pkey, skey)
	}
	return id, seqNr, err
}

func recordsOf(from, to uint64, at time.Time) []types.Record {
	var records []types.Record
	for seqNr := from; seqNr <= to; seqNr++ {
		records = append(records, recordOf(seqNr, at))
	}
	return records
}

// start runs a source until stop is called. stop waits for its end.
func start(ctx context.Context, streams *aws24h, store *memory, settings dynamodbstreams.Settings) (*dynamodbstreams.Source, func()) {
	return startOn(ctx, streams, dynamodbstreams.Share(streams), store, settings)
}

// startOn is start with a given client.
func startOn(ctx context.Context, streams *aws24h, client *dynamodbstreams.Streams, store *memory, settings dynamodbstreams.Settings) (*dynamodbstreams.Source, func()) {
	source := dynamodbstreams.New("journal", dynamodbstreams.Ports{
		Place: fakePlace, Tables: streams, Streams: client, Projector: store, Checkpoints: store, Log: discard,
	}, settings)
	return source, run(ctx, source, store)
}

// run runs a source and its repairs until stop is called. stop waits for their end.
func run(ctx context.Context, source *dynamodbstreams.Source, store *memory) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { source.Run(ctx) })
	running.Go(func() { store.repairWhenDue(ctx) })
	return func() { cancel(); running.Wait() }
}

// eventually fails the test unless check returns nil within a minute of the fake clock.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	if err := within(time.Minute, check); err != nil {
		t.Fatal(err)
	}
}

// hasRows checks that exactly the events 1 to n are in the read model.
func (m *memory) hasRows(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seqNr := 1; seqNr <= n; seqNr++ {
		if !m.rows[uint64(seqNr)] {
			return fmt.Errorf("event %d of %d is missing", seqNr, n)
		}
	}
	if len(m.rows) != n {
		return fmt.Errorf("%d rows instead of %d", len(m.rows), n)
	}
	return nil
}

// settled checks that no repair is due.
func (m *memory) settled() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.due {
		return errors.New("a repair is due")
	}
	return nil
}
