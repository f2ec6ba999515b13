package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

// follow starts a source on one shard and waits until its lag is 0.
func follow(t *testing.T, records ...types.Record) (*aws24h, *fakeShard, *memory, *dynamodbstreams.Source) {
	t.Helper()
	streams, store := &aws24h{arn: arn}, newMemory()
	shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: records})
	source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
	t.Cleanup(stop)
	eventually(t, func() error { return errors.Join(notBehind(t.Context(), source), store.settled(), source.Health()) })
	return streams, shard, store, source
}

func notBehind(ctx context.Context, source *dynamodbstreams.Source) error {
	if lag := source.Lag(ctx); lag != (projection.Lag{}) {
		return fmt.Errorf("the lag is %+v", lag)
	}
	return nil
}

func TestIdleIsNotBehind(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, _, _, source := follow(t, recordsOf(1, 3, time.Now())...)
		<-time.After(time.Hour)
		before := streams.count("GetShardIterator")
		for range 100 {
			if err := notBehind(t.Context(), source); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Second)
		}
		if after := streams.count("GetShardIterator"); after != before {
			t.Errorf("%d iterators were used for a lag that was known", after-before)
		}
	})
}

func TestAProjectorThatCannotWriteIsSeen(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, shard, store, source := follow(t)
		store.look(func() { store.before = func(projection.Batch) error { return errRefused } })
		streams.change(func() { shard.records = append(shard.records, recordsOf(1, 1500, time.Now())...) })
		<-time.After(30 * time.Second)
		first := source.Lag(t.Context())
		if first.Records != 1000 || !first.AtLeast || first.Behind < 29*time.Second || first.Behind > 31*time.Second {
			t.Errorf("after 30 s with 1,500 records, of which 1,000 were read: %+v", first)
		}
		streams.change(func() { shard.records = append(shard.records, recordsOf(1501, 1600, time.Now())...) })
		<-time.After(10 * time.Second)
		if lag := source.Lag(t.Context()); lag.Records != 1000 || lag.Behind-first.Behind < 9*time.Second {
			t.Errorf("10 s and 100 records later: %+v", lag)
		}
		if source.Health() == nil {
			t.Error("the source is healthy")
		}
		store.look(func() { store.before = nil })
		eventually(t, func() error { return errors.Join(store.hasRows(1600), notBehind(t.Context(), source), source.Health()) })
	})
}

// A projector that hangs is worse than one that fails, because it reports no error.
func TestAReaderThatHangsIsSeen(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, shard, store, source := follow(t)
		release := make(chan struct{})
		var once bool
		store.look(func() {
			store.before = func(projection.Batch) error {
				if !once {
					once = true
					store.mu.Unlock()
					<-release
					store.mu.Lock()
				}
				return nil
			}
		})
		streams.change(func() { shard.records = append(shard.records, recordsOf(1, 5, time.Now())...) })
		<-time.After(time.Minute)
		if lag := source.Lag(t.Context()); lag.Records != 5 || lag.Behind < 59*time.Second {
			t.Errorf("after a minute: %+v", lag)
		}
		if source.Health() == nil {
			t.Error("the source is healthy")
		}
		close(release)
		eventually(t, func() error { return errors.Join(store.hasRows(5), notBehind(t.Context(), source), source.Health()) })
	})
}

func TestAStreamThatDoesNotAnswerIsSeen(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, _, _, source := follow(t, recordsOf(1, 3, time.Now())...)
		streams.change(func() { streams.fault = func(string, string) error { return errors.New("connection refused") } })
		<-time.After(time.Minute)
		if lag := source.Lag(t.Context()); !lag.AtLeast || lag.Behind < 59*time.Second || lag.Behind > 61*time.Second {
			t.Errorf("after a minute without an answer: %+v", lag)
		}
		if source.Health() == nil {
			t.Error("the source is healthy")
		}
		streams.change(func() { streams.fault = nil })
		eventually(t, func() error { return errors.Join(notBehind(t.Context(), source), source.Health()) })
	})
}

// A stopped reader has no lag as long as there are no new records.
func TestStandingStillWithNothingNewIsNotBehind(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, shard, _, source := follow(t, recordsOf(1, 3, time.Now())...)
		reads := 0
		streams.change(func() {
			// every other call, the reader's, fails; the others succeed
			streams.fault = func(call, _ string) error {
				if call == "GetRecords" {
					if reads++; reads%5 == 1 {
						return errors.New("connection reset by peer")
					}
				}
				return nil
			}
		})
		<-time.After(time.Minute)
		if lag := source.Lag(t.Context()); lag.Records != 0 || lag.Behind != 0 {
			t.Errorf("nothing is new: %+v", lag)
		}
		streams.change(func() { shard.records = append(shard.records, recordsOf(4, 4, time.Now())...); streams.fault = nil })
		eventually(t, func() error { return notBehind(t.Context(), source) })
	})
}

func TestASourceThatEndedIsSeen(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		streams.add(&fakeShard{id: shardID(0), from: time.Now()})
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		eventually(t, func() error { return notBehind(t.Context(), source) })
		stop()
		<-time.After(time.Minute)
		if lag := source.Lag(t.Context()); !lag.AtLeast || lag.Behind < time.Minute || source.Health() == nil {
			t.Errorf("a minute after its end: %+v, health %v", lag, source.Health())
		}
	})
}

func TestBeforeTheStreamIsReachedTheLagGrows(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		source, stop := start(t.Context(), &aws24h{}, newMemory(), dynamodbstreams.Settings{})
		defer stop()
		<-time.After(time.Minute)
		if lag := source.Lag(t.Context()); !lag.AtLeast || lag.Behind != time.Minute {
			t.Errorf("after a minute without a table: %+v", lag)
		}
		if source.Health() == nil {
			t.Error("the source is healthy")
		}
	})
}

// A shard that always has records is behind by no more than the age of the newest one that is projected.
func TestAShardThatIsNeverEmptyIsNotBehind(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, shard, _, source := follow(t)
		for number := range uint64(2000) {
			streams.change(func() { shard.records = append(shard.records, recordsOf(number+1, number+1, time.Now())...) })
			<-time.After(5 * time.Millisecond)
			if lag := source.Lag(t.Context()); lag.AtLeast || lag.Behind > time.Second {
				t.Fatalf("after %d records: %+v", number, lag)
			}
		}
	})
}

func TestLongWaitsBetweenPollsAreNoFault(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		streams.add(&fakeShard{id: shardID(0), from: time.Now()})
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PollMax: time.Minute})
		defer stop()
		<-time.After(3 * time.Minute)
		for range 100 {
			if err := errors.Join(notBehind(t.Context(), source), source.Health()); err != nil {
				t.Fatal(err)
			}
			<-time.After(3 * time.Second)
		}
	})
}
