package dynamodbstreams_test

import (
	"errors"
	"testing"
	"time"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
)

// TestPollingFollowsCloselyAndBacksOff: polls of an idle shard cost money, and waits on a busy shard cost time.
func TestPollingFollowsCloselyAndBacksOff(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, shard, store, _ := follow(t)
		polls := func(during time.Duration) int {
			before := streams.count("GetRecords")
			<-time.After(during)
			return streams.count("GetRecords") - before
		}
		<-time.After(10 * time.Second)
		if n := polls(time.Minute); n < 590 || n > 610 {
			t.Errorf("%d polls in an idle minute, want one in 100 ms", n)
		}

		// With an event every 50 ms, each must be delivered within 10 ms, and the first within 100 ms.
		for seqNr := uint64(1); seqNr <= 40; seqNr++ {
			written := time.Now()
			streams.change(func() { shard.records = append(shard.records, recordOf(seqNr, written)) })
			if err := within(time.Second, func() error { return store.hasRows(int(seqNr)) }); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(written); took > 10*time.Millisecond && (seqNr > 1 || took > 100*time.Millisecond) {
				t.Errorf("event %d was delivered after %s", seqNr, took)
			}
			<-time.After(50*time.Millisecond - time.Since(written))
		}
		<-time.After(2 * time.Second)
		if n := polls(time.Minute); n > 610 {
			t.Errorf("%d polls in a minute that is idle again", n)
		}
	})
}

func TestFullPagesAreFollowedWithoutAWait(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, store := &aws24h{arn: arn}, newMemory()
		streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 5000, time.Now())})
		begun := time.Now()
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PageLimit: 10})
		defer stop()
		eventually(t, func() error { return errors.Join(store.hasRows(5000), source.Health()) })
		if took := time.Since(begun); took > 50*time.Millisecond {
			t.Errorf("500 full pages took %s of waiting", took)
		}
	})
}
