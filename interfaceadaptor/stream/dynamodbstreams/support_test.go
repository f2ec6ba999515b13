package dynamodbstreams_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase"
)

var discard = slog.New(slog.DiscardHandler)

const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/journal/stream/1"

// recordOf is the stream's record of event seqNr of the one thread that the tests write to.
func recordOf(seqNr uint64, at time.Time) types.Record {
	id := ident.New[thread.Thread](time.Unix(1, 0), [10]byte{1})
	user := ident.New[ident.UserAccount](time.Unix(1, 0), [10]byte{2})
	payload, err := threadcodec.Events().Encode(usecase.Recorded[thread.Event]{
		Envelope: usecase.Envelope{
			EventID: ident.New[thread.Event](at, [10]byte{byte(seqNr)}).String(), AggregateType: thread.AggregateType, AggregateID: id.String(), SeqNr: seqNr, OccurredAt: at.UTC().Truncate(time.Microsecond),
			Caller: usecase.Caller{Executor: user.String()},
		},
		Event: thread.Deleted{},
	})
	if err != nil {
		panic(err)
	}
	return types.Record{
		EventName: types.OperationTypeInsert,
		Dynamodb: &types.StreamRecord{
			SequenceNumber: aws.String(fmt.Sprintf("%021d", seqNr)), ApproximateCreationDateTime: aws.Time(at),
			NewImage: map[string]types.AttributeValue{
				"pkey":    &types.AttributeValueMemberS{Value: "thread-7"},
				"aid":     &types.AttributeValueMemberS{Value: "thread-" + id.String()},
				"seq_nr":  &types.AttributeValueMemberN{Value: fmt.Sprint(seqNr)},
				"payload": &types.AttributeValueMemberS{Value: string(payload)},
			},
		},
	}
}

func recordsOf(from, to uint64, at time.Time) []types.Record {
	var records []types.Record
	for seqNr := from; seqNr <= to; seqNr++ {
		records = append(records, recordOf(seqNr, at))
	}
	return records
}

// start runs a source until the returned stop is called, which waits for its end.
func start(ctx context.Context, streams *aws24h, store *memory, settings dynamodbstreams.Settings) (*dynamodbstreams.Source, func()) {
	source := dynamodbstreams.New("journal", dynamodbstreams.Ports{
		Tables: streams, Streams: streams, Projector: store, Checkpoints: store, Log: discard,
	}, settings)
	return source, run(ctx, source)
}

// run runs a source until the returned stop is called, which waits for its end.
func run(ctx context.Context, source *dynamodbstreams.Source) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source.Run(ctx)
	}()
	return func() { cancel(); <-ended }
}

// eventually fails the test unless check becomes nil within a minute of the fake clock.
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
	if state := m.checkpoints[arn]["repair"]; state != "done" {
		return fmt.Errorf("the repair is %q", state)
	}
	return nil
}
