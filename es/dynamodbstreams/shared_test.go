package dynamodbstreams_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	source "example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

// slowService is a service with slow answers that counts the concurrent calls.
type slowService struct {
	*aws24h
	mu        sync.Mutex
	now, most int
	records   int // returned
}

func (s *slowService) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	<-time.After(3 * time.Millisecond)
	out, err := s.aws24h.GetRecords(ctx, in, options...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	if err == nil {
		s.records += len(out.Records)
	}
	return out, err
}

// handedOut returns the number of records returned and the maximum number of concurrent readers.
func (s *slowService) handedOut() (records, readers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records, s.most
}

// Three projections must share the readers of a shard, and a projection that stands still must not delay the others.
func TestProjectionsShareTheReadersOfAShard(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams := &slowService{aws24h: &aws24h{arn: arn}}
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now()})
		shared := source.Share(streams)
		var stores []*memory
		for _, settings := range []source.Settings{
			{PageLimit: 50}, {PageLimit: 50, PollMin: 100 * time.Millisecond, PollMax: 500 * time.Millisecond},
			{PageLimit: 50, PollMin: 100 * time.Millisecond, PollMax: 500 * time.Millisecond},
		} {
			store := newMemory()
			stores = append(stores, store)
			_, stop := startOn(t.Context(), streams.aws24h, shared, store, settings)
			defer stop()
		}
		written := 0
		write := func(rounds int) {
			for range rounds {
				streams.change(func() {
					shard.records = append(shard.records, recordsOf(uint64(written)+1, uint64(written)+40, time.Now())...)
				})
				written += 40
				<-time.After(40 * time.Millisecond)
			}
		}
		hasAll := func(some ...*memory) func() error {
			return func() (err error) {
				for _, store := range some {
					err = errors.Join(err, store.hasRows(written))
				}
				return err
			}
		}
		write(50)
		eventually(t, hasAll(stores...))
		if records, _ := streams.handedOut(); records > written*5/4 {
			t.Errorf("the service returned %d records for %d", records, written)
		}
		for i, store := range stores {
			if n := store.count(); n != written {
				t.Errorf("projection %d got %d records for %d", i, n, written)
			}
		}

		stuck := stores[2]
		stuck.look(func() { stuck.before = func(projection.Batch) error { return errRefused } })
		write(100) // twice the time that records are kept for the others
		begun := time.Now()
		eventually(t, hasAll(stores[:2]...))
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the others had to wait for %s", took)
		}
		stuck.look(func() { stuck.before = nil })
		eventually(t, hasAll(stores...))
		seen, readers := streams.handedOut()
		if readers > 2 {
			t.Errorf("the shard had %d readers at once", readers)
		}
		write(50)
		eventually(t, hasAll(stores...))
		records, _ := streams.handedOut()
		if more := records - seen; more > 50*40*5/4 {
			t.Errorf("after catching up, the service had returned %d records for %d", more, 50*40)
		}
		for _, store := range stores {
			store.look(func() {
				if last := store.handed[len(store.handed)-1].SeqNr; last != uint64(written) {
					t.Errorf("the last record is %d", last)
				}
			})
		}
	})
}

func TestASourceBehindTheOldestRecordLearnsItBesideANewOne(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, old, fresh := &aws24h{arn: arn}, newMemory(), newMemory()
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: recordsOf(1, 2, time.Now())})
		_, stop := start(t.Context(), streams, old, source.Settings{})
		eventually(t, func() error { return errors.Join(old.hasRows(2), old.settled()) })
		stop()
		streams.change(func() { shard.records = append(shard.records, recordsOf(3, 5, time.Now())...) })
		<-time.After(25 * time.Hour)
		streams.change(func() { shard.records = append(shard.records, recordsOf(6, 6, time.Now())...) })

		all := func() []uint64 { return []uint64{1, 2, 3, 4, 5, 6} }
		old.journal, fresh.journal = all, all
		shared := source.Share(streams)
		_, stop = startOn(t.Context(), streams, shared, fresh, source.Settings{})
		defer stop()
		eventually(t, func() error { return fresh.hasRows(6) })
		_, stopOld := startOn(t.Context(), streams, shared, old, source.Settings{})
		defer stopOld()
		eventually(t, func() error { return errors.Join(old.hasRows(6), old.settled()) })
	})
}

// Two projections have read nothing from a new shard when the service is out of reach for longer than it keeps records.
func TestEachSourceOfAShardLearnsThatItsFirstRecordsWereForgotten(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		streams, stores := &aws24h{arn: arn}, []*memory{newMemory(), newMemory()}
		shard := streams.add(&fakeShard{id: shardID(0), from: time.Now()})
		shared := source.Share(streams)
		for _, store := range stores {
			_, stop := startOn(t.Context(), streams, shared, store, source.Settings{PollMin: 10 * time.Second, PollMax: 10 * time.Second})
			defer stop()
		}
		<-time.After(20 * time.Hour)
		for _, store := range stores {
			if repairs := store.madeRepairs(); repairs != 1 { // the first, because there was no checkpoint
				t.Errorf("%d repairs, although there was nothing to read", repairs)
			}
			store.look(func() { store.journal = func() []uint64 { return []uint64{1, 2} } })
		}
		streams.change(func() {
			streams.fault = func(string, string) error { return errRefused }
			shard.records = recordsOf(1, 2, time.Now())
		})
		<-time.After(25 * time.Hour)
		streams.change(func() {
			shard.records = append(shard.records, recordsOf(3, 3, time.Now())...)
			streams.fault = nil
		})
		for _, store := range stores {
			eventually(t, func() error { return errors.Join(store.hasRows(3), store.settled()) })
		}
	})
}
