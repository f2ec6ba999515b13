package httpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
)

func answer(t *testing.T, handler http.HandlerFunc, header map[string]string) (*httptest.ResponseRecorder, []map[string]any) {
	t.Helper()
	out := &testenv.Log{}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/some/path?secret=1", nil)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	httpserver.Wrap(logging.Settings{}.Logger(out), nil, nil, handler).ServeHTTP(recorder, request)
	var logged []map[string]any
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		logged = append(logged, fields)
	}
	return recorder, logged
}

func TestRequestIDs(t *testing.T) {
	for sent, kept := range map[string]bool{
		"abc-123":                true,
		strings.Repeat("x", 128): true,
		"":                       false,
		strings.Repeat("x", 129): false,
		"with space":             false,
		"ünïcode":                false,
		"bell\a":                 false,
	} {
		var seen string
		recorder, _ := answer(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Get("X-Request-Id") },
			map[string]string{"X-Request-Id": sent})
		echoed := recorder.Header().Get("X-Request-Id")
		if seen == "" || seen != echoed || (seen == sent) != kept {
			t.Errorf("sent %q: the handler sees %q, the client %q", sent, seen, echoed)
		}
	}
}

func TestEveryRequestIsOneLine(t *testing.T) {
	_, logged := answer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, map[string]string{
		"X-Request-Id":  "r1",
		"X-Tenant-Code": "acme",
		"traceparent":   "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	})
	if len(logged) != 1 {
		t.Fatalf("%d lines", len(logged))
	}
	for key, want := range map[string]any{
		"msg": "request", "method": "POST", "path": "/some/path", "status": 418.0, "request_id": "r1",
		"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "tenant": "acme",
	} {
		if logged[0][key] != want {
			t.Errorf("%s is %v, want %v", key, logged[0][key], want)
		}
	}
	if _, measured := logged[0]["duration_ms"].(float64); !measured {
		t.Error("no duration")
	}
	for _, bad := range []string{"junk", "00-0-0-01", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01"} {
		_, logged := answer(t, func(http.ResponseWriter, *http.Request) {}, map[string]string{"traceparent": bad})
		if _, has := logged[0]["trace_id"]; has {
			t.Errorf("traceparent %q gave a trace id", bad)
		}
	}
}

func TestRoutineRequestsAreLoggedAtDebug(t *testing.T) {
	for _, test := range []struct {
		path   string
		status int
		level  string
	}{
		{"/health/ready", http.StatusOK, "DEBUG"},
		{"/health/alive", http.StatusOK, "DEBUG"},
		{"/metrics", http.StatusOK, "DEBUG"},
		{"/health/ready", http.StatusServiceUnavailable, "INFO"},
		{"/health/nothing", http.StatusNotFound, "INFO"},
		{"/threads/create", http.StatusCreated, "INFO"},
		{"/metrics/create", http.StatusOK, "INFO"},
	} {
		out := &testenv.Log{}
		handler := httpserver.Wrap(logging.Settings{Level: slog.LevelDebug}.Logger(out), nil, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
		}))
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil))
		if !strings.Contains(out.String(), `"level":"`+test.level+`"`) {
			t.Errorf("%d of %s is logged as %s", test.status, test.path, out)
		}
	}
}

func TestAPanicIsLoggedAndAnswered(t *testing.T) {
	recorder, logged := answer(t, func(http.ResponseWriter, *http.Request) { panic("the secret reason") }, nil)
	if recorder.Code != http.StatusInternalServerError || recorder.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("answered %d %s", recorder.Code, recorder.Header().Get("Content-Type"))
	}
	if strings.Contains(recorder.Body.String(), "secret") || !json.Valid(recorder.Body.Bytes()) {
		t.Errorf("body %s", recorder.Body)
	}
	if len(logged) != 2 || logged[0]["panic"] != "the secret reason" || logged[1]["status"] != 500.0 {
		t.Errorf("logged %v", logged)
	}
}

func TestAnswersAreNeitherGuessedNorKeptUnlessTheHandlerSaysSo(t *testing.T) {
	keep := func(w http.ResponseWriter) { w.Header().Set("Cache-Control", "max-age=3600") }
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		caching string
	}{
		"nothing":         {func(http.ResponseWriter, *http.Request) {}, "no-store"},
		"an error":        {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "no-store"},
		"something fixed": {func(w http.ResponseWriter, _ *http.Request) { keep(w); w.WriteHeader(http.StatusOK) }, "max-age=3600"},
		"a panic":         {func(http.ResponseWriter, *http.Request) { panic("broken") }, "no-store"},
		"a late panic":    {func(w http.ResponseWriter, _ *http.Request) { keep(w); panic("broken") }, "no-store"},
	} {
		recorder, _ := answer(t, test.handler, nil)
		if header := recorder.Header(); header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != test.caching {
			t.Errorf("%s: %v", name, header)
		}
	}
}

func TestAPanicInTheMiddleOfAnAnswerDropsTheConnection(t *testing.T) {
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half an"))
		panic("broken")
	}))
	response, err := server.get(t.Context())
	if err == nil {
		defer response.Body.Close()
		_, err = response.Body.Read(make([]byte, 200))
		for err == nil {
			_, err = response.Body.Read(make([]byte, 200))
		}
	}
	if err == nil || err.Error() == "EOF" {
		t.Errorf("the client took half a response for a complete one: %v", err)
	}
}

func TestHealth(t *testing.T) {
	out := &testenv.Log{}
	log := logging.Settings{}.Logger(out)
	var broken error
	server, err := httpserver.Listen(t.Context(), log, "TEST_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	server.Reports = append(server.Reports, func(_ context.Context, health *httpserver.Health) { health.Check("database", broken) })
	server.Notes["about"] = "this"
	ask := func(handler http.HandlerFunc) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return recorder
	}
	if got := ask(server.Alive); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"about":"this"`) {
		t.Errorf("alive: %d", got.Code)
	}
	if got := ask(server.Ready); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"database":"ok"`) {
		t.Errorf("ready: %d %s", got.Code, got.Body)
	}
	broken = errors.New("password wrong for root")
	if got := ask(server.Ready); got.Code != http.StatusServiceUnavailable || strings.Contains(got.Body.String(), "password") {
		t.Errorf("not ready: %d %s", got.Code, got.Body)
	}
	if !strings.Contains(out.String(), "password wrong for root") {
		t.Error("the cause is missing from the log")
	}
}

// Requests that come during a check get its answer: many must not take as many connections of a database.
func TestChecksOfHealthAreShared(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		server, checks, goOn := &httpserver.Server{}, 0, make(chan struct{})
		server.Reports = append(server.Reports, func(context.Context, *httpserver.Health) {
			checks++
			<-goOn
		})
		for range 20 {
			go func() {
				answer := httptest.NewRecorder()
				server.Ready(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"ready"`) {
					t.Errorf("%d %s", answer.Code, answer.Body)
				}
			}()
		}
		synctest.Wait()
		if close(goOn); checks != 1 {
			t.Errorf("%d checks for 20 requests at the same time", checks)
		}
	})
}
