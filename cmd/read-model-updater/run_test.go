package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdkstreams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/programtest"
)

const soon = 30 * time.Second

func TestEventsBecomeRows(t *testing.T) {
	s := newSystem(t).setUp(t)
	before := s.create(t) // written before the program starts
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
	// Each event was projected once: from the stream, or from the journal, if the repair at the start or the filling of
	// a gap came first.
	if applied, filled := metric(t, measured, "projection_events_applied_total"), metric(t, measured, "projection_events_filled_total"); applied+filled != 102 || applied == 0 {
		t.Errorf("%d events from the stream and %d from the journal", applied, filled)
	}
	for _, name := range []string{
		"projection_lag_seconds 0", "projection_lag_records 0", "projection_ready 1",
		"projection_repairs_total ", "stream_polls_total ", "stream_records_total ", "projection_parked_aggregates 0",
	} {
		if !strings.Contains(string(measured), "\n"+name) {
			t.Errorf("%q is not in the metrics", name)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
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
	unreadable, healthy := s.create(t), s.create(t)
	err := s.gateway.Append(t.Context(), es.Append{
		ID: es.AggregateID{Type: "thread", ID: unreadable.ID}, ExpectedVersion: 1,
		Entries: []es.Entry{{SeqNr: 2, EventID: kit.NewID[struct{}]().String(), OccurredAt: time.Now(), Payload: []byte(`{"type":"ThreadPainted"}`)}},
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
		// A process manager says so itself: it sends no commands because of the thread's events.
		if !slices.ContainsFunc(found.Warnings, func(w string) bool { return strings.HasPrefix(w, "process leave-on-close: 1 aggregates are parked") }) {
			err = errors.Join(err, fmt.Errorf("the warnings are %q", found.Warnings))
		}
		return errors.Join(err, s.isAt(t.Context(), healthy, 2), s.isAt(t.Context(), unreadable, 1), p.caughtUp())
	})
	if _, measured, err := p.get("/metrics"); err != nil || !strings.Contains(string(measured), "\nprocess_parked_aggregates{process=\"leave-on-close\"} 1\n") {
		t.Errorf("the metrics do not count the parked aggregate of the process: %v", err)
	}
}

// Until the read model has all events that were in the journal before, no reader should be sent to it.
func TestItIsReadyOnceTheReadModelHasCaughtUp(t *testing.T) {
	s := newSystem(t).setUp(t)
	key := s.create(t)
	conn, err := s.db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES projection_positions WRITE"); err != nil {
		t.Fatal(err)
	}
	p := s.start(t)
	testenv.Eventually(t, soon, func() error {
		status, found, err := p.health()
		if err == nil && (status != http.StatusServiceUnavailable || found.Checks["read_model"] != "failed" || found.Checks["stream"] != "ok" ||
			!strings.Contains(found.Reason, "has not caught up") || found.BehindSeconds == 0) {
			err = fmt.Errorf("%d %+v", status, found)
		}
		return err
	})
	if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, soon, func() error { return errors.Join(s.isAt(t.Context(), key, 1), p.caughtUp()) })
	p.kill()
	testenv.Eventually(t, soon, s.start(t).caughtUp)
}

// gizmos is a handler without rows: only the positions of its aggregates are stored.
type gizmos struct{}

func (gizmos) Type() string { return "gizmo" }

func (gizmos) DecodeEvent(payload []byte) (event projection.Event, err error) {
	var read struct {
		Gizmo string
		SeqNr uint64
	}
	err = json.Unmarshal(payload, &read)
	return projection.Event{Envelope: es.Envelope{AggregateType: "gizmo", AggregateID: read.Gizmo, SeqNr: read.SeqNr}}, err
}

func (gizmos) Load(context.Context, projection.Tx, []projection.Event) (projection.Fold, error) {
	return gizmos{}, nil
}

func (gizmos) Apply(projection.Event) error { return nil }

func (gizmos) Save(context.Context, projection.Tx) error { return nil }

// Events of an unknown type must not stop other events, and must be reported everywhere. Once a program knows the type,
// all its events must get into the rows: those from before, between and after, across all restarts.
func TestATypeThatNobodyKnows(t *testing.T) {
	s := newSystem(t).setUp(t)
	key, gizmo := s.create(t), es.AggregateID{Type: "gizmo", ID: kit.NewID[struct{}]().String()}
	appendGizmo := func(seqNr uint64) {
		t.Helper()
		err := s.gateway.Append(t.Context(), es.Append{
			ID: es.AggregateID{Type: "gizmo", ID: gizmo.ID}, ExpectedVersion: seqNr - 1,
			Entries: []es.Entry{{
				SeqNr: seqNr, EventID: kit.NewID[struct{}]().String(), OccurredAt: time.Now(), Payload: fmt.Appendf(nil, `{"Gizmo":%q,"SeqNr":%d}`, gizmo.ID, seqNr),
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for life := uint64(1); life <= 2; life++ {
		p := s.start(t)
		appendGizmo(life)
		version, err := s.post(t.Context(), key, fmt.Sprint("message ", life))
		if err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, soon, func() error {
			status, found, err := p.health()
			if err == nil && (status != http.StatusServiceUnavailable || found.Checks["aggregate_types"] != "failed" ||
				!strings.Contains(found.Reason, gizmo.String())) {
				err = fmt.Errorf("%d %+v", status, found)
			}
			return errors.Join(err, s.isAt(t.Context(), key, version))
		})
		if _, measured, err := p.get("/metrics"); err != nil || !strings.Contains(string(measured), `projection_unregistered_type{aggregate_type="gizmo"} 1`) {
			t.Errorf("the metrics do not count the unknown type: %v", err)
		}
		p.kill()
	}
	appendGizmo(3)
	// extra:operate {
	s.env["IGNORE_AGGREGATE_TYPES"] = "invoice, gizmo"
	p := s.start(t)
	testenv.Eventually(t, soon, p.caughtUp)
	p.kill()
	// extra:operate }

	store, err := rowstore.New(s.db, chatrows.Projection)
	if err != nil {
		t.Fatal(err)
	}
	projector := projection.New(store, s.gateway, projection.Options{}, append(system.ReadModel().Handlers, gizmos{})...)
	config := testenv.DynamoDBConfig(t)
	source := dynamodbstreams.New(s.env["JOURNAL_TABLE"], dynamodbstreams.Ports{
		Place: s.gateway.Place, Tables: dynamodb.NewClient(config), Streams: dynamodbstreams.Share(sdkstreams.NewFromConfig(config)), Projector: projector, Checkpoints: store, Log: slog.New(slog.DiscardHandler),
	}, dynamodbstreams.Settings{})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { source.Run(ctx) })
	running.Go(func() { projector.Run(ctx) })
	defer running.Wait()
	defer stop()
	for version := uint64(3); version <= 4; version++ {
		testenv.Eventually(t, soon, func() error {
			versions, err := store.Versions(t.Context(), []es.AggregateID{gizmo})
			if err == nil && versions[gizmo] != version {
				err = fmt.Errorf("the gizmo is at %d, not %d", versions[gizmo], version)
			}
			return err
		})
		if version == 3 {
			appendGizmo(4)
		}
	}
}

// TestADatabaseThatTakesNothing locks the table that every batch writes to.
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
	keys := make([]es.AggregateID, threads)
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
		// Each process lives until some more rows exist, so that it is killed in the middle of its work.
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
