package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

func TestAHundredShardsAndMoreAreAllRead(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		for i := range 250 {
			streams.add(&fakeShard{id: shardID(i), from: time.Now(), records: recordsOf(uint64(i+1), uint64(i+1), time.Now())})
		}
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{Concurrency: 8})
		defer stop()
		eventually(t, func() error { return store.hasRows(250) })
		if pages := streams.count("DescribeStream"); pages < 3 {
			t.Errorf("%d pages of a listing of 250 shards", pages)
		}
	})
}

func TestTheFirstStartRepairs(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn, trimsEmpty: true}, newMemory()
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now()})
		store.journal = func() []uint64 { return []uint64{1, 2} } // written before the stream was enabled
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		defer stop()
		eventually(t, func() error { return errors.Join(store.hasRows(2), store.settled()) })
		streams.change(func() { shard.records = recordsOf(3, 3, time.Now()) }) // the end of TrimmedDataAccess
		eventually(t, func() error { return store.hasRows(3) })
	})
}

func TestARestartGoesOnFromTheCheckpoint(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 5, time.Now())})
		for n := 5; n <= 15; n += 5 {
			_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
			eventually(t, func() error { return store.hasRows(n) })
			eventually(t, store.settled)
			stop()
			streams.change(func() { shard.records = append(shard.records, recordsOf(uint64(n+1), uint64(n+5), time.Now())...) })
		}
		if n := store.count(); n != 15 || store.repairs != 1 {
			t.Errorf("%d records were handed over and %d repairs made, want 15 and the first start's", n, store.repairs)
		}
	})
}

func TestABatchThatWasStoredAndNotConfirmedComesAgain(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 3, time.Now())})
		failures := 2
		store.after = func(batch projection.Batch) error {
			if len(batch.Records) > 0 && failures > 0 {
				failures--
				return errRefused
			}
			return nil
		}
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		defer stop()
		eventually(t, func() error { return store.hasRows(3) })
		eventually(t, func() (err error) {
			store.look(func() {
				if len(store.handed) != 9 {
					err = fmt.Errorf("%d records handed over, want each three times", len(store.handed))
				}
			})
			return err
		})
	})
}

func TestRecordsThatTheStreamForgotAreRepaired(t *testing.T) {
	for name, forget := range map[string]func(*aws24h){
		"the shard is still there": func(*aws24h) {},
		"the shard is gone": func(f *aws24h) {
			f.shards[0].gone, f.shards[0].to = true, time.Now()
			f.shards = append(f.shards, &fakeShard{id: shardID(1), parent: shardID(0), from: time.Now(), records: recordsOf(6, 6, time.Now())})
		},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Bubble(t, func(t *testing.T) {
				streams, store := &aws24h{arn: arn}, newMemory()
				shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 2, time.Now())})
				_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
				eventually(t, func() error { return errors.Join(store.hasRows(2), store.settled()) })
				stop()

				<-time.After(time.Hour)
				streams.change(func() { shard.records = append(shard.records, recordsOf(3, 5, time.Now())...) })
				<-time.After(25 * time.Hour)
				streams.change(func() {
					shard.records = append(shard.records, recordsOf(6, 6, time.Now())...)
					forget(streams)
				})
				store.journal = func() []uint64 { return []uint64{1, 2, 3, 4, 5} }
				source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
				defer stop()
				eventually(t, func() error { return errors.Join(store.hasRows(6), store.settled()) })
				if lost := source.Totals().Lost; lost != 1 {
					t.Errorf("%d losses counted, want 1", lost)
				}
			})
		})
	}
}

// A shard whose parent ended long ago may have lost its first records even though it was never read.
func TestAChildThatBeginsLateIsNotTrusted(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		now := time.Now()
		streams.add(&fakeShard{id: shardID(0), from: now, to: now.Add(time.Second), records: recordsOf(1, 1, now)})
		streams.add(&fakeShard{id: shardID(1), parent: shardID(0), from: now.Add(time.Second), records: recordsOf(2, 2, now.Add(2*time.Second))})
		store.before = func(batch projection.Batch) error { // the process dies before the child is started
			if batch.Checkpoint.Shard == shardID(1) {
				return errRefused
			}
			return nil
		}
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		eventually(t, func() error { return errors.Join(store.hasRows(1), store.settled()) })
		eventually(t, func() (err error) {
			store.look(func() {
				if at := store.checkpoints[arn][shardID(0)]; !strings.HasPrefix(at, "end ") {
					err = fmt.Errorf("the parent is at %q", at)
				}
			})
			return err
		})
		stop()

		<-time.After(25 * time.Hour)
		store.before = nil
		store.journal = func() []uint64 { return []uint64{1, 2} }
		_, stop = start(t.Context(), streams, store, dynamodbstreams.Settings{})
		defer stop()
		eventually(t, func() error { return errors.Join(store.hasRows(2), store.settled()) })
	})
}

func TestAnExpiredIteratorIsReplacedWithoutRepeating(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 2, time.Now())})
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		defer stop()
		eventually(t, func() error { return store.hasRows(2) })
		store.look(func() { store.before = func(projection.Batch) error { return errRefused } })
		streams.change(func() { shard.records = append(shard.records, recordsOf(3, 4, time.Now())...) })
		<-time.After(20 * time.Minute) // the iterator for the refused batch expires
		streams.change(func() { shard.records = append(shard.records, recordsOf(5, 6, time.Now())...) })
		store.look(func() { store.before = nil })
		eventually(t, func() error { return store.hasRows(6) })
		if n := store.count(); n != 6 || source.Totals().Expired != 1 {
			t.Errorf("%d records handed over and %d iterators expired, want 6 and 1", n, source.Totals().Expired)
		}
	})
}

func TestThrottlesAndBrokenConnectionsLoseNothing(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		calls := 0
		streams, store := &aws24h{arn: arn}, newMemory()
		streams.fault = func(call, _ string) error {
			switch calls++; calls % 5 {
			case 0:
				return &types.LimitExceededException{Message: aws.String("slow down")}
			case 1:
				return errors.New("connection reset by peer")
			case 2:
				if call == "GetRecords" {
					return errEmptyPage
				}
			}
			return nil
		}
		streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 40, time.Now())})
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PageLimit: 3})
		defer stop()
		eventually(t, func() error { return store.hasRows(40) })
		if n := store.count(); n != 40 {
			t.Errorf("%d records handed over, want each once", n)
		}
	})
}

func TestAShardThatCannotBeProjectedStopsNoOther(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		now := time.Now()
		streams.add(&fakeShard{id: shardID(0), from: now, records: recordsOf(1, 3, now)})
		streams.add(&fakeShard{id: shardID(1), from: now, records: recordsOf(4, 6, now)})
		stuck := true
		store.before = func(batch projection.Batch) error {
			switch {
			case !stuck || batch.Checkpoint.Shard != shardID(0) || len(batch.Records) == 0:
				return nil
			case batch.Records[0].SeqNr%2 == 1:
				panic("a bug in the projection")
			}
			return errRefused
		}
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PageLimit: 2, Concurrency: 1})
		defer stop()
		eventually(t, func() (err error) {
			store.look(func() {
				if len(store.rows) != 3 || !store.rows[6] {
					err = fmt.Errorf("rows %v", store.rows)
				}
			})
			return err
		})
		eventually(t, func() error {
			if source.Health() == nil {
				return errors.New("the source is healthy although a shard stands still")
			}
			return nil
		})
		store.look(func() { stuck = false })
		eventually(t, func() error { return errors.Join(store.hasRows(6), source.Health()) })
	})
}

func TestTheEndOfAStreamLeadsToTheNext(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 2, time.Now())})
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{})
		defer stop()
		eventually(t, func() error { return errors.Join(store.hasRows(2), store.settled()) })
		streams.change(func() { streams.disabled, shard.to = true, time.Now() })
		eventually(t, func() (err error) {
			store.look(func() {
				if left := len(store.checkpoints[arn]); left > 0 {
					err = fmt.Errorf("%d checkpoints left of a stream that was read to its end", left)
				}
			})
			return err
		})
		const next = arn + "-next"
		streams.change(func() {
			streams.arn, streams.disabled = next, false
			streams.shards = []*fakeShard{{id: shardID(7), from: time.Now(), records: recordsOf(4, 4, time.Now())}}
		})
		store.look(func() { store.journal = func() []uint64 { return []uint64{1, 2, 3} } }) // 3 was never in the stream
		eventually(t, func() error { return store.hasRows(4) })
	})
}

func TestCheckpointsOfShardsThatLeftTheStreamAreForgotten(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		now := time.Now()
		streams.add(&fakeShard{id: shardID(0), from: now, to: now.Add(time.Hour), records: recordsOf(1, 1, now)})
		streams.add(&fakeShard{id: shardID(1), parent: shardID(0), from: now.Add(time.Hour), records: recordsOf(2, 2, now.Add(2*time.Hour))})
		_, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PollMax: 10 * time.Second})
		defer stop()
		has := func() (parent, child bool) {
			store.look(func() {
				_, parent = store.checkpoints[arn][shardID(0)]
				_, child = store.checkpoints[arn][shardID(1)]
			})
			return parent, child
		}
		<-time.After(24 * time.Hour)
		if parent, child := has(); !parent || !child {
			t.Errorf("while both shards are listed: parent kept %t, child kept %t", parent, child)
		}
		<-time.After(2 * time.Hour)
		if parent, child := has(); parent || !child {
			t.Errorf("when the parent has gone: parent kept %t, child kept %t", parent, child)
		}
	})
}

func TestAStopFinishesTheBatchInHand(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams := &aws24h{arn: arn}
		streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 3, time.Now())})
		slow := &slowProjector{memory: newMemory(), begun: make(chan struct{})}
		source := dynamodbstreams.New("journal", dynamodbstreams.Ports{
			Place: fakePlace, Tables: streams, Streams: dynamodbstreams.Share(streams), Projector: slow, Checkpoints: slow, Log: discard,
		}, dynamodbstreams.Settings{})
		stop := run(t.Context(), source, slow.memory)
		<-slow.begun
		stop()
		if err := slow.hasRows(3); err != nil {
			t.Error(err)
		}
	})
}

// slowProjector takes three seconds for records, and stops when its context ends.
type slowProjector struct {
	*memory
	begun chan struct{}
}

func (s *slowProjector) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	if len(batch.Records) > 0 {
		close(s.begun)
		select {
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
			return projection.Outcome{}, ctx.Err()
		}
	}
	return s.memory.Project(ctx, batch)
}
