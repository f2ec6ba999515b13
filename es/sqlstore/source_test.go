package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/sqlstore"
)

func TestEventsReachTheReadModel(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		early := s.create(t, "")
		source := s.source(t, s.projector, sqlstore.SourceSettings{PageSize: 7})
		runSource(t, source)
		var mutex sync.Mutex
		versions := map[es.AggregateID]uint64{early: 1}
		var clients sync.WaitGroup
		for client := range 8 {
			clients.Go(func() {
				key := s.create(t, []es.Tenant{"", "one", "two"}[client%3])
				var version uint64
				for message := range 20 {
					version = s.post(t, key, fmt.Sprint("message ", message)).Version
				}
				mutex.Lock()
				defer mutex.Unlock()
				versions[key] = version
			})
		}
		clients.Wait()
		s.eventually(t, versions)
		testenv.Eventually(t, 5*time.Second, func() error {
			if lag := source.Lag(t.Context()); lag.Records != 0 || lag.Behind != 0 || lag.AtLeast {
				return fmt.Errorf("the source is behind: %+v", lag)
			}
			return source.Health()
		})
	})
}

func TestWriterWakesTheSource(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		key := s.create(t, "")
		// Without a wake-up it would take a minute.
		source := s.source(t, s.projector, sqlstore.SourceSettings{PollMin: time.Minute, PollMax: time.Minute})
		runSource(t, source)
		s.eventually(t, map[es.AggregateID]uint64{key: 1})
		for version := uint64(2); version < 12; version++ {
			s.post(t, key, "woken")
			s.eventually(t, map[es.AggregateID]uint64{key: version})
		}
	})
}

func TestEventsOneUponTheOtherShareABatch(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		const posts, gather = 20, 150 * time.Millisecond
		key := s.create(t, "")
		source := s.source(t, s.projector, sqlstore.SourceSettings{PollMin: time.Minute, PollMax: time.Minute, Gather: gather})
		begun := time.Now()
		runSource(t, source)
		for range posts {
			s.post(t, key, "one of many")
		}
		s.eventually(t, map[es.AggregateID]uint64{key: 1 + posts})
		batches := source.Totals().Polls - source.Totals().Empty
		const counted = 1 // a poll is counted before it turns out to be empty
		if most := 1 + int64(time.Since(begun)/gather) + counted; batches > most {
			t.Errorf("%d batches, want %d at most in this time", batches, most)
		}
	})
}

func TestRestartGoesOnWhereTheRowsAre(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		key := s.create(t, "")
		first := s.source(t, s.projector, sqlstore.SourceSettings{})
		stop := runSource(t, first)
		s.eventually(t, map[es.AggregateID]uint64{key: 1})
		stop()
		s.post(t, key, "while no source runs")
		s.post(t, key, "and again")

		idle := s.source(t, s.projector, sqlstore.SourceSettings{})
		if lag := idle.Lag(t.Context()); !lag.AtLeast {
			t.Errorf("a source that was not started has a lag: %+v", lag)
		}
		if idle.Health() == nil {
			t.Error("a source that was not started is healthy")
		}
		runSource(t, idle)
		s.eventually(t, map[es.AggregateID]uint64{key: 3})
		testenv.Eventually(t, 5*time.Second, func() error {
			if got := idle.Totals().Records; got != 2 {
				return fmt.Errorf("%d events were delivered again, or not at all", got-2)
			}
			return nil
		})
	})
}

func TestAnotherStoreBeginsAnew(t *testing.T) {
	const (
		restore = "DELETE FROM events WHERE version > 1"
		goOn    = "UPDATE events SET event_content = REPLACE(event_content, 'projected', 'something else') WHERE version > 1"
	)
	for name, c := range map[string]struct {
		change string
		runs   bool // the source, meanwhile
	}{
		"another event store":         {"UPDATE event_queue SET store_id = 'another'", false},
		"a restored event store":      {restore, false},
		"a restored one that went on": {goOn, false},
		// After a failover that nobody notices.
		"a server that lacks the last event": {restore, true},
		"a server that uses its number anew": {goOn, true},
	} {
		t.Run(name, func(t *testing.T) {
			onSystems(t, func(t *testing.T, s *system) {
				key := s.create(t, "")
				s.post(t, key, "projected")
				source := s.source(t, s.projector, sqlstore.SourceSettings{})
				stop := runSource(t, source)
				s.eventually(t, map[es.AggregateID]uint64{key: 2})
				if !c.runs {
					stop()
					source = s.source(t, s.projector, sqlstore.SourceSettings{})
				}
				testenv.Eventually(t, 5*time.Second, func() error {
					if got := source.Totals().Records; c.runs && got < 2 {
						return fmt.Errorf("%d events are counted", got)
					}
					return nil
				})
				before := source.Totals().Records
				if _, err := s.events.ExecContext(t.Context(), c.change); err != nil {
					t.Fatal(err)
				}
				if !c.runs {
					runSource(t, source)
				}
				testenv.Eventually(t, 20*time.Second, func() error {
					if source.Totals().Records == before {
						return errors.New("the event store is not read from its beginning")
					}
					return nil
				})
			})
		})
	}
}

// flaky is a projector that fails a given number of times before it calls the real one.
type flaky struct {
	projection.Sink
	failures atomic.Int32
	panics   atomic.Int32
}

func (f *flaky) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	if f.failures.Add(-1) >= 0 {
		return projection.Outcome{}, errors.New("the read model is out of order")
	}
	if f.panics.Add(-1) >= 0 {
		panic("out of order")
	}
	return f.Sink.Project(ctx, batch)
}

func TestBatchThatFailsComesAgain(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		projector := &flaky{Sink: s.projector}
		projector.failures.Store(2)
		projector.panics.Store(1)
		source := s.source(t, projector, sqlstore.SourceSettings{})
		runSource(t, source)
		key := s.create(t, "")
		s.post(t, key, "after all")
		s.eventually(t, map[es.AggregateID]uint64{key: 2})
		if got := source.Totals().Failures; got != 3 {
			t.Errorf("%d failures", got)
		}
	})
}

func TestStandingStillIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	onSystems(t, func(t *testing.T, s *system) {
		projector := &flaky{Sink: s.projector}
		source := s.source(t, projector, sqlstore.SourceSettings{})
		stop := runSource(t, source)
		key := s.create(t, "")
		s.eventually(t, map[es.AggregateID]uint64{key: 1})
		testenv.Eventually(t, 5*time.Second, source.Health)

		projector.failures.Store(1 << 30)
		for range 3 {
			s.post(t, key, "waits")
		}
		began := time.Now()
		testenv.Eventually(t, 15*time.Second, func() error { // after ten seconds
			if err := source.Health(); err == nil || !strings.Contains(err.Error(), "out of order") {
				return fmt.Errorf("the health of a source that stands still: %w", err)
			}
			return nil
		})
		if lag := source.Lag(t.Context()); lag.Records != 3 || lag.Behind < time.Since(began) || lag.AtLeast {
			t.Errorf("after %s the lag is %+v", time.Since(began), lag)
		}
		stop()
		s.post(t, key, "nobody follows")
		if lag := source.Lag(t.Context()); lag.Records != 4 || lag.Behind < time.Since(began) {
			t.Errorf("after it has stopped the lag is %+v", lag)
		}
		if err := s.events.Close(); err != nil {
			t.Fatal(err)
		}
		if lag := source.Lag(t.Context()); !lag.AtLeast || lag.Behind == 0 {
			t.Errorf("without the event store the lag is %+v", lag)
		}
	})
}

func TestWhatCanNotBeReadStopsItsAggregateAlone(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		source := s.source(t, s.projector, sqlstore.SourceSettings{})
		runSource(t, source)
		key, other := s.create(t, "one"), s.create(t, "one")
		broken := es.AggregateID{Tenant: "one", Type: notebook.Type, ID: key.ID}
		s.append(t, broken, 1)
		s.append(t, es.AggregateID{Tenant: "one", Type: notebook.Type, ID: "no-ulid"}, 0)
		s.post(t, other, "goes on")
		s.eventually(t, map[es.AggregateID]uint64{key: 1, other: 2})
		testenv.Eventually(t, 5*time.Second, func() error {
			if parked, err := s.readModel.CountParked(t.Context()); err != nil || parked != 1 {
				return fmt.Errorf("%d aggregates are parked, %w", parked, err)
			}
			return nil
		})
		if skipped := source.Totals().Skipped; skipped != 1 {
			t.Errorf("%d skipped", skipped)
		}
	})
}

func TestTheSourceGoesOnAfterALargeEvent(t *testing.T) {
	onSystems(t, func(t *testing.T, s *system) {
		key := s.create(t, "")
		runSource(t, s.source(t, s.projector, sqlstore.SourceSettings{PageSize: 1}))
		s.eventually(t, map[es.AggregateID]uint64{key: s.post(t, key, strings.Repeat("long ", 1700<<10)).Version})
		s.eventually(t, map[es.AggregateID]uint64{key: s.post(t, key, "goes on").Version})
	})
}

// append writes an event that can't be decoded.
func (s *system) append(t *testing.T, id es.AggregateID, after uint64) {
	t.Helper()
	if err := s.gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: after, Entries: []es.Entry{{
		SeqNr: after + 1, EventID: ulid.Make().String(), EventType: "Unheard", OccurredAt: time.Now(), CommandID: ulid.Make().String(),
		Payload: []byte(`{"type":"Unheard"}`),
	}}}); err != nil {
		t.Fatal(err)
	}
}
