package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
	"example.com/threads/tests/wordsearch"
)

// echo is a webhook that repeats what it is sent, in the way that its mode says.
type echo struct {
	url      string
	mode     atomic.Value
	accepted atomic.Int64
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := &echo{}
	e.mode.Store("accept")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		line := strings.ReplaceAll(string(body), "\n", "")
		switch e.mode.Load() {
		case "accept": // and then says more than it was asked
			e.accepted.Add(1)
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 204 No Content\r\n\r\n")
			_ = es.Wait(r.Context(), 10*time.Millisecond)
			_, _ = fmt.Fprintf(conn, "%s\r\n\r\n", line) // no valid answer to the next event
			_ = es.Wait(r.Context(), 10*time.Millisecond)
		case "refuse":
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 422 %[1]s\r\nX: %[1]s\r\nContent-Length: %[2]d\r\n\r\n%[1]s", line, len(line))
		case "garble":
			_, _ = fmt.Fprintf(conn, "%s\r\n\r\n", line)
		}
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// Brokers and databases may repeat what they get in their errors. Nothing of that may be in a table, a file, a log, a
// trace or an operator's list, where an erasure would not reach it.
func TestNoWordsInWhatOthersSay(t *testing.T) {
	startsPrograms(t)
	setups := maps.Clone(erasable)
	setups["one process on SQLite"] = func(t *testing.T, more ...string) (*system, func(words ...string) []string) {
		s := oneProcess(t, erasureOn(more...)...)
		s.store = append(s.store, erasureOn()...)
		return s, func(words ...string) []string {
			search := wordsearch.New(t)
			search.Files(s.folder)
			searchSQL(t, search, variable(s.store, "DATABASE_URL"))
			searchSQL(t, search, variable(s.store, "EVENT_STORE_URL"))
			return search.Find(words...)
		}
	}
	for name, start := range setups {
		t.Run(name, func(t *testing.T) {
			hook, collector := newEcho(t), newTraceCollector(t)
			s, find := start(t, "PUBLISH_URL="+hook.url, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.url, "OTEL_BSP_SCHEDULE_DELAY=50", "LOG_LEVEL=debug")
			testNoWordsInWhatOthersSay(t, s, find, hook, collector)
		})
	}
}

func testNoWordsInWhatOthersSay(t *testing.T, s *system, find func(...string) []string, hook *echo, collector *traceCollector) {
	const word = "Rhubarbwords"
	ada := s.person("acme")
	var threads []string
	for range 3 {
		threads = append(threads, ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id"))
	}
	post := func(thread string) answer {
		return ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": word})
	}
	published := func(count string) {
		t.Helper()
		testenv.Eventually(t, 30*time.Second, func() error { return s.metric(t, "publisher_lag_records", "0") })
		testenv.Eventually(t, 30*time.Second, func() error { return s.metric(t, "publisher_parked_aggregates", count) })
	}
	post(threads[0])
	testenv.Eventually(t, 30*time.Second, func() error {
		if accepted := hook.accepted.Load(); accepted < 4 {
			return fmt.Errorf("%d of 4 events are published", accepted)
		}
		return nil
	})

	hook.mode.Store("refuse")
	post(threads[0])
	published("1")
	aid := "thread-" + threads[0]
	if listed := s.operate(t, isWrong, "dead-letters", "list"); !strings.Contains(listed, "the webhook answered 422 Unprocessable Entity") || strings.Contains(listed, word) {
		t.Errorf("dead-letters list prints %s", listed)
	}
	s.operate(t, allIsWell, "dead-letters", "skip", aid, "--tenant", "acme", "--projection", "publisher", "--reason", "never accepted")
	published("0")

	hook.mode.Store("garble")
	post(threads[1])
	testenv.Eventually(t, 30*time.Second, func() error { return s.metric(t, "publisher_outage", "1") })
	hook.mode.Store("accept")
	published("0")

	// The read model's database repeats what it is to store.
	db, err := database.Open(t.Context(), variable(s.store, "DATABASE_URL"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	refusing := "CREATE TRIGGER echo BEFORE INSERT ON messages FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = NEW.text"
	if db.DriverName() == "sqlite" {
		refusing = "CREATE TRIGGER echo BEFORE INSERT ON messages FOR EACH ROW BEGIN SELECT RAISE(ABORT, NEW.text); END"
	}
	if _, err := db.ExecContext(t.Context(), refusing); err != nil {
		t.Fatal(err)
	}
	stuck := post(threads[2])
	testenv.Eventually(t, 30*time.Second, func() error {
		// a sealed text begins with its owner's id
		if log, err := os.ReadFile(s.projector.Log); err != nil || !strings.Contains(string(log), ada.id+":") {
			return fmt.Errorf("the log has no error of the database: %w", err)
		}
		return nil
	})
	if _, err := db.ExecContext(t.Context(), "DROP TRIGGER echo"); err != nil {
		t.Fatal(err)
	}
	ada.view(t, threads[2], token(stuck))

	line := fmt.Sprintf(`{"path":"/threads/post_message","body":{"executor_id":%q,"text":%q}}`, ada.id, word)
	accepted, err := send(t.Context(), s.writeURL+"/tasks/import", []byte(line), headers{"X-Tenant-Code": "acme", "X-Executor-Id": ada.id, "Content-Type": "application/x-ndjson"})
	if err != nil {
		t.Fatal(err)
	}
	if _, rejected := ada.finished(t, accepted.text("task_id"), "succeeded"); len(rejected) != 1 || !strings.Contains(string(rejected[0]), word) {
		t.Errorf("the import rejected %s", rejected)
	}

	ada.command(t, "/accounts/erase", nil)
	published("0")
	if where := find(word); len(where) > 0 {
		t.Errorf("after the erasure there is %v", where)
	}
	if where := find("never accepted", "422"); len(where) < 2 {
		t.Errorf("the search does not find plain words: it found %v", where)
	}
	if listed := s.operate(t, allIsWell, "dead-letters", "list", "--skipped"); strings.Contains(listed, word) || !strings.Contains(listed, "never accepted") {
		t.Errorf("dead-letters list --skipped prints %s", listed)
	}
	for _, p := range []*programs.Program{s.writer, s.projector} {
		if text, err := os.ReadFile(p.Log); err != nil || strings.Contains(string(text), word) {
			t.Errorf("the log %s contains the words, or can't be read: %v", p.Log, err)
		}
	}
	if spans := collector.text(); strings.Contains(spans, word) || !strings.Contains(spans, "publisher") && !strings.Contains(spans, "stream") {
		t.Error("the traces contain the words, or there are none")
	}
}
