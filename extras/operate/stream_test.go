package operate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/admission"
)

type (
	counter struct{ Value int }
	added   struct{ By int }
)

var counters = es.Aggregate[counter, added, added]{
	Decide: func(_ counter, add added) ([]added, error) { return []added{add}, nil },
	Apply:  func(c counter, e added) counter { return counter{c.Value + e.By} },
	Events: es.NewCodec("counter", nil, es.Plain[added, added]("CounterAdded")),
}

const (
	one  = "01H42K4ABWQ5V2XQEP3A48VE0Z"
	two  = "01H42K4ABWQ5V2XQEP3A48VE10"
	soon = 10 * time.Second
)

// system is an updater of counters with the routes.
type system struct {
	*httptest.Server
	t        *testing.T
	stop     context.CancelFunc
	commands *es.Service[counter, added, added]
	guard    *guard
}

// guard admits all, unless it refuses, until the token of all expires.
type guard struct {
	admission.Guard
	refused error
	expired context.Context
}

func (g *guard) Enter(ask admission.Ask) (admission.Principal, error) {
	if len(ask.Rights) != 1 || ask.Rights[0] != admission.Operate {
		return admission.Principal{}, errors.New("it asks for other rights")
	}
	return admission.Principal{}, g.refused
}

func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, leave := context.WithCancel(ctx)
	context.AfterFunc(g.expired, leave)
	return ctx, leave
}

func start(t *testing.T) *system {
	t.Helper()
	return startOn(t, func(journal es.Journal) es.Journal { return journal })
}

func startOn(t *testing.T, journal func(es.Journal) es.Journal) *system {
	t.Helper()
	store, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "counters.db"))
	if err != nil {
		t.Fatal(err)
	}
	totals := rowstore.JSONRows[added, counter]{
		Table: "totals", Version: 1, Events: counters.Events,
		Fold: func(row counter, e es.Recorded[added]) (counter, error) { return counter{row.Value + e.Event.By}, nil },
	}
	if err := totals.Create(t.Context(), store.DB); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	updater := run.New(run.Options{
		ReadModel: run.ReadModel{Name: totals.Table, Tables: []string{totals.Table}, Handlers: []projection.Handler{totals.Handler()}},
		Log:       log,
		Open: func(context.Context) (run.Databases, error) {
			return run.Databases{
				Journal: journal(store), Rows: store.DB, Trouble: store.Check, Close: func() {},
				Source: func(to projection.Sink, checkpoints projection.Checkpoints, pollMin time.Duration) (run.Source, error) {
					return store.NewSource(to, checkpoints, log, sqlstore.SourceSettings{PollMin: pollMin}), nil
				},
			}, nil
		},
	}, prometheus.NewRegistry())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- updater.Run(ctx) }()
	s := &system{t: t, stop: stop, commands: es.NewService(counters, store, es.Settings{Logger: log}), guard: &guard{expired: t.Context()}}
	mux := chi.NewRouter()
	AddTo(ctx, mux, updater, log)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(admission.With(r.Context(), s.guard)))
	}))
	t.Cleanup(func() {
		s.Close()
		stop()
		if err := errors.Join(<-ended, s.commands.Close(context.WithoutCancel(t.Context())), store.Close(context.WithoutCancel(t.Context()))); err != nil {
			t.Error(err)
		}
	})
	testenv.Eventually(t, soon, func() error { _, _, err := updater.Opened(); return err })
	return s
}

func (s *system) add(id string, by int) {
	s.t.Helper()
	if _, err := s.commands.Handle(s.t.Context(), es.Request[added]{
		ID: id, Command: added{by}, Name: "Add", Caller: es.Caller{Executor: one, CorrelationID: fmt.Sprint("request-", by), ClientIP: "192.0.2.7"},
	}); err != nil {
		s.t.Fatal(err)
	}
}

// follow returns the messages of the stream; it is closed when the stream ends.
func (s *system) follow() <-chan news {
	s.t.Helper()
	response := s.get("/operate/events", http.StatusOK)
	messages := make(chan news, 1000)
	s.t.Cleanup(func() { _ = response.Close() })
	lines := bufio.NewScanner(response)
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the first message, which says that it has begun
	go func() {
		defer close(messages)
		for lines.Scan() {
			var message news
			if text, is := strings.CutPrefix(lines.Text(), "data: "); is && json.Unmarshal([]byte(text), &message) == nil {
				messages <- message
			}
		}
	}()
	return messages
}

func (s *system) get(path string, status int) io.ReadCloser {
	s.t.Helper()
	response := s.send(path)
	if response.StatusCode != status {
		s.t.Fatalf("%s: %s, want %d", path, response.Status, status)
	}
	return response.Body
}

func (s *system) send(path string) *http.Response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	return response
}

// await returns when a message is accepted. It fails when the stream ends.
func await(t *testing.T, messages <-chan news, about string, enough func(news) bool) {
	t.Helper()
	for late := time.After(soon); ; {
		select {
		case message, more := <-messages:
			if !more {
				t.Fatalf("the stream has ended before: %s", about)
			}
			if enough(message) {
				return
			}
		case <-late:
			t.Fatalf("after %s it is not told: %s", soon, about)
		}
	}
}

func awaitEnd(t *testing.T, messages <-chan news) {
	t.Helper()
	for late := time.After(soon); ; {
		select {
		case _, more := <-messages:
			if !more {
				return
			}
		case <-late:
			t.Fatal("the stream goes on")
		}
	}
}

func TestEventsAreToldAndThenTheirRows(t *testing.T) {
	s := start(t)
	messages := s.follow()
	s.add(one, 1)
	var told Event
	await(t, messages, "the event", func(message news) bool {
		for _, told = range message.Events {
			return message.Head == 1
		}
		return false
	})
	fields, _ := told.Event.(map[string]any)
	if _, shown := fields["client_ip"]; shown || told.AID != "counter-"+one || told.SeqNr != 1 || fields["type"] != "CounterAdded" || fields["correlation_id"] != "request-1" {
		t.Errorf("the event is told as %+v", told)
	}
	s.add(one, 2)
	await(t, messages, "the rows", func(message news) bool {
		return len(message.Projected) == 1 && message.Projected[0] == projected{Named{AID: "counter-" + one}, 2}
	})
	if other := s.follow(); len(other) > 0 {
		t.Error("it begins with events that the rows have")
	}
	// Who comes later is told where the journal is.
	later := s.get("/operate/events", http.StatusOK)
	defer func() { _ = later.Close() }()
	lines := bufio.NewScanner(later)
	lines.Scan()
	var first news
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &first); err != nil || first.Head != 2 || first.Ordered == nil || !*first.Ordered {
		t.Errorf("it begins with %s (%v)", lines.Text(), err)
	}
}

// client is a client's connection. It reads what is received from the channel.
type client struct {
	httptest.ResponseRecorder
	written chan string
}

func (c *client) Write(p []byte) (int, error) {
	c.written <- string(p)
	return len(p), nil
}

func (*client) SetWriteDeadline(time.Time) error { return nil }

// read returns the next message.
func (c *client) read(t *testing.T) (message news) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.TrimPrefix(<-c.written, "data: ")), &message); err != nil {
		t.Fatal(err)
	}
	return message
}

// A message has few of many events, and a stream remembers few aggregates.
func TestAMessageIsBounded(t *testing.T) {
	reader := &client{written: make(chan string, 1)}
	s := stream{writer: reader, behind: map[es.AggregateID]*followed{}}
	for round := range 70 {
		records := make([]projection.Record, 3*maxNews)
		for i := range records {
			records[i] = projection.Record{Key: es.AggregateID{Type: "counter", ID: fmt.Sprint(round, i)}, SeqNr: 1, Payload: []byte("{broken")}
		}
		if _, err := s.Project(t.Context(), projection.Batch{Records: records}); err != nil {
			t.Fatal(err)
		}
		if told := reader.read(t); len(told.Events) != maxNews || told.Skipped != 2*maxNews || told.Events[0].Event != "{broken" {
			t.Errorf("%d events are told, and %d left out: %+v", len(told.Events), told.Skipped, told.Events[0])
		}
	}
	if len(s.behind) != maxBehind {
		t.Errorf("%d aggregates are followed", len(s.behind))
	}
}

// current are rows that are at version 1, all of them.
type current struct {
	projection.Store
	most int // aggregates that were asked for at once
}

func (c *current) Versions(_ context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	c.most = max(c.most, len(keys))
	versions := map[es.AggregateID]uint64{}
	for _, key := range keys {
		versions[key] = 1
	}
	return versions, nil
}

// Of many aggregates that are behind, some are asked for at a time, and in the end all are told.
func TestTheRowsOfManyAggregatesAreTold(t *testing.T) {
	const count = 2*maxAsked + 1
	reader := &client{written: make(chan string, 1)}
	s := stream{writer: reader, behind: map[es.AggregateID]*followed{}, end: func() {}}
	for i := range count {
		s.behind[es.AggregateID{Type: "counter", ID: fmt.Sprint(i)}] = &followed{journal: 1}
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows := &current{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.followRows(ctx, rows)
	}()
	for told := 0; told < count; {
		told += len(reader.read(t).Projected)
	}
	cancel()
	<-ended
	if rows.most != maxAsked {
		t.Errorf("%d aggregates were asked for at once, not %d", rows.most, maxAsked)
	}
}

// missing are rows of which there are none yet.
type missing struct{ projection.Store }

func (missing) Versions(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error) {
	return nil, nil
}

// A client that comes back may take what it was told before as projected.
func TestRowsThatAreMissingAreTold(t *testing.T) {
	reader := &client{written: make(chan string, 1)}
	s := stream{writer: reader, behind: map[es.AggregateID]*followed{{Type: "counter", ID: one}: {journal: 1}}, end: func() {}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.followRows(ctx, missing{})
	}()
	if told := reader.read(t).Projected; len(told) != 1 || told[0] != (projected{Named{AID: "counter-" + one}, 0}) {
		t.Errorf("%v is told", told)
	}
	cancel()
	<-ended
}

func TestASlowReaderDelaysNobodyAndMissesNoMessage(t *testing.T) {
	const count = 10
	s := start(t)
	slow := &client{written: make(chan string)}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		defer close(slow.written)
		s.Config.Handler.ServeHTTP(slow, httptest.NewRequestWithContext(ctx, http.MethodGet, "/operate/events", nil))
	}()
	slow.read(t)
	messages := s.follow()
	for i := range count {
		s.add(one, i)
	}
	await(t, messages, "the last event", func(message news) bool { return message.Head == count })
	for told := 0; told < count; {
		message := slow.read(t)
		told += len(message.Events) + message.Skipped
	}
	leave()
	for range slow.written { // until the handler returns
	}
}

// Whoever leaves makes room for another one, because the source ends, too.
func TestOnlySoManyFollow(t *testing.T) {
	s := start(t)
	first := s.get("/operate/events", http.StatusOK)
	for range maxStreams - 1 {
		s.follow()
	}
	_ = s.get("/operate/events", http.StatusTooManyRequests).Close()
	_ = first.Close()
	testenv.Eventually(t, soon, func() error {
		next := s.send("/operate/events")
		_ = next.Body.Close()
		if next.StatusCode != http.StatusOK {
			return fmt.Errorf("the next one is answered with %s", next.Status)
		}
		return nil
	})
}

func TestOnlyOperatorsFollow(t *testing.T) {
	s := start(t)
	expiring, expire := context.WithCancel(t.Context())
	s.guard.expired = expiring
	messages := s.follow()
	expire()
	awaitEnd(t, messages)
	s.guard.refused = admission.Forbidden("no")
	for _, path := range []string{"/operate/events", "/operate/journal"} {
		_ = s.get(path, http.StatusForbidden).Close()
	}
}

// A program that stops does not wait for those who follow.
func TestTheStreamEndsWithTheProgram(t *testing.T) {
	s := start(t)
	messages := s.follow()
	s.stop()
	awaitEnd(t, messages)
}
