package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/threads/cmd/internal/program/programtest"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/tests/testenv"
	"example.com/threads/usecase"
)

const soon = 30 * time.Second

func TestEventsBecomeRows(t *testing.T) {
	s := newSystem(t).setUp(t)
	before := s.create(t) // there before anybody follows the stream
	p := s.start(t)
	key := s.create(t)
	var took []time.Duration
	for i := range 100 {
		version, err := s.post(t.Context(), key, fmt.Sprint("message ", i))
		if err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		testenv.Eventually(t, soon, func() error { return s.isAt(t.Context(), key, version) })
		took = append(took, time.Since(answered))
	}
	slices.Sort(took)
	t.Logf("visible after the answer, polled every 10 ms: p50 %s, p90 %s, max %s", took[50], took[90], took[99])
	testenv.Eventually(t, soon, func() error { return errors.Join(s.isAt(t.Context(), before, 1), p.caughtUp()) })
	_, measured, err := p.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	// Each event has become rows once: from the stream, or from the journal, where the repair at the start or a gap came first.
	if applied, filled := metric(t, measured, "projection_events_applied_total"), metric(t, measured, "projection_events_filled_total"); applied+filled != 102 || applied == 0 {
		t.Errorf("%d events from the stream and %d from the journal", applied, filled)
	}
	for _, name := range []string{
		"projection_lag_seconds 0", "projection_lag_records 0", "projection_ready 1",
		"projection_repairs_total ", "stream_polls_total ", "stream_records_total 10", "projection_parked_aggregates 0",
	} {
		if !strings.Contains(string(measured), "\n"+name) {
			t.Errorf("%q is not in the metrics", name)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it did not end well: %v", err)
	}
}

func metric(t *testing.T, measured []byte, name string) (value int) {
	t.Helper()
	_, line, found := strings.Cut(string(measured), "\n"+name+" ")
	if _, err := fmt.Sscan(line, &value); !found || err != nil {
		t.Errorf("%s is not in the metrics: %v", name, err)
	}
	return value
}

// A developer may have exported the event store of another system.
func TestItFollowsNoOtherEventStore(t *testing.T) {
	t.Setenv("EVENT_STORE", "sqlite")
	t.Setenv("EVENT_STORE_URL", "sqlite:"+t.TempDir()+"/events.db")
	s := newSystem(t).setUp(t)
	p := s.start(t)
	key := s.create(t)
	testenv.Eventually(t, soon, func() error { return errors.Join(s.isAt(t.Context(), key, 1), p.caughtUp()) })
}

func TestItWaitsForWhatIsNotThereYet(t *testing.T) {
	s := newSystem(t)
	p := s.start(t)
	failed := func(check string) func() error {
		return func() error {
			status, found, err := p.health()
			if err == nil && (status != http.StatusServiceUnavailable || found.Checks[check] != "failed" || found.BehindSeconds == 0) {
				err = fmt.Errorf("%d %+v", status, found)
			}
			return err
		}
	}
	testenv.Eventually(t, soon, failed("database"))
	s.migrate(t)
	testenv.Eventually(t, soon, func() error {
		_, found, err := p.health()
		if err == nil && found.Checks["database"] != "ok" {
			err = fmt.Errorf("%+v", found)
		}
		return err
	})
	testenv.Eventually(t, soon, failed("stream"))
	s.setUpTables(t)
	key := s.create(t)
	testenv.Eventually(t, soon, func() error { return errors.Join(s.isAt(t.Context(), key, 1), p.caughtUp()) })
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	p := newSystem(t).start(t)
	for path, status := range map[string]int{
		"/": http.StatusOK, "/health/alive": http.StatusOK, "/health/ready": http.StatusServiceUnavailable, "/metrics": http.StatusOK, "/nothing": http.StatusNotFound,
	} {
		got := programtest.Get(t, p.url+path)
		if got.Status != status {
			t.Errorf("%s: %d, want %d", path, got.Status, status)
		}
		got.CheckGuarded(t, path)
	}
	programtest.Post(t, p.url+"/metrics", "", nil).CheckGuarded(t, "POST /metrics")
}

func TestAnEventThatCannotBeReadParksItsThreadAlone(t *testing.T) {
	s := newSystem(t).setUp(t)
	p := s.start(t)
	poisoned, healthy := s.create(t), s.create(t)
	err := s.gateway.Append(t.Context(), eventstore.Append{
		ID: eventstore.AggregateID{Type: "thread", ULID: poisoned.ID}, ExpectedVersion: 1,
		Entries: []eventstore.Entry{{SeqNr: 2, EventID: newID[struct{}]().String(), OccurredAt: time.Now(), Payload: []byte(`{"type":"ThreadPainted"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.post(t.Context(), healthy, "hello"); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, soon, func() error {
		_, found, err := p.health()
		if err == nil && (found.ParkedAggregates == nil || *found.ParkedAggregates != 1) {
			err = fmt.Errorf("%+v", found)
		}
		return errors.Join(err, s.isAt(t.Context(), healthy, 2), s.isAt(t.Context(), poisoned, 1), p.caughtUp())
	})
}

// TestADatabaseThatTakesNothing locks the table that every batch has to write to.
func TestADatabaseThatTakesNothing(t *testing.T) {
	s := newSystem(t).setUp(t)
	p := s.start(t)
	key := s.create(t)
	testenv.Eventually(t, soon, func() error { return errors.Join(s.isAt(t.Context(), key, 1), p.caughtUp()) })

	conn, err := s.db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES checkpoints WRITE"); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if _, err := s.post(t.Context(), key, fmt.Sprint("message ", i)); err != nil {
			t.Fatal(err)
		}
	}
	var earlier float64
	testenv.Eventually(t, soon, func() error {
		_, found, err := p.health()
		if err == nil && (found.BehindRecords == 0 || !found.BehindAtLeast) {
			err = fmt.Errorf("%+v", found)
		}
		earlier = found.BehindSeconds
		return err
	})
	testenv.Eventually(t, soon, func() error {
		status, found, err := p.health()
		if err == nil && (found.BehindSeconds < earlier+2 || status != http.StatusServiceUnavailable || found.Checks["stream"] != "failed") {
			err = fmt.Errorf("%d %+v, after %f s", status, found, earlier)
		}
		return err
	})
	if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 2*soon, func() error { return errors.Join(s.isAt(t.Context(), key, 31), p.caughtUp()) })
}

// TestKilledAgainAndAgain kills the program at random points while four threads are written to.
func TestKilledAgainAndAgain(t *testing.T) {
	s := newSystem(t).setUp(t)
	const threads, posts, kills = 4, 150, 8
	keys := make([]usecase.Key, threads)
	failures := make(chan error, threads)
	for i := range keys {
		keys[i] = s.create(t)
		go func() {
			for n := range posts {
				if _, err := s.post(t.Context(), keys[i], fmt.Sprint("message ", n)); err != nil {
					failures <- err
					return
				}
			}
			failures <- nil
		}()
	}
	p := s.start(t)
	written := 0
	for kill := 1; kill <= kills; kill++ {
		// Each life lasts until some more rows are there, so that it is killed in the middle of its work.
		testenv.Eventually(t, soon, func() error {
			var count int
			err := s.db.GetContext(t.Context(), &count, "SELECT COUNT(*) FROM messages")
			if err == nil && count < min(written+1, threads*posts) {
				err = fmt.Errorf("%d messages after %d", count, written)
			}
			written = max(written, count)
			return err
		})
		p.kill()
		p = s.start(t)
	}
	for range keys {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
	}
	testenv.Eventually(t, soon, func() error {
		errs := []error{p.caughtUp()}
		for _, key := range keys {
			errs = append(errs, s.isAt(t.Context(), key, posts+1))
		}
		return errors.Join(errs...)
	})
}
