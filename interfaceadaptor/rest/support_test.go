package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/rest"
)

const (
	ada    = "01H42K4ABWQ5V2XQEP3A48VE0A"
	bob    = "01H42K4ABWQ5V2XQEP3A48VE0B"
	eve    = "01H42K4ABWQ5V2XQEP3A48VE0E"
	nobody = "01H42K4ABWQ5V2XQEP3A48VE0N"
)

// fields is a JSON object.
type fields map[string]any

// headers are header names and values.
type headers map[string]string

// failing returns services that fail with err.
func failing(err error) []rest.Aggregate {
	return []rest.Aggregate{rest.Threads(fails[thread.Command]{err}), rest.Accounts(fails[account.Command]{err})}
}

type fails[C any] struct{ err error }

func (f fails[C]) Handle(context.Context, es.Request[C]) (es.Result, error) {
	return es.Result{}, f.err
}

func (f fails[C]) Snapshot(context.Context, es.Caller, string) (uint64, error) {
	return 0, f.err
}

// handlerOf returns the handler as the programs serve it. It logs to log.
func handlerOf(aggregates []rest.Aggregate, log io.Writer) http.Handler {
	logger := slog.New(slog.NewJSONHandler(log, nil))
	mux := rest.NewHandler(aggregates, rest.Settings{Source: "write-api", Log: logger, Timeout: 10 * time.Second})
	return httpserver.Wrap(logger, nil, nil, new(httpserver.Server).Handler(mux, httpserver.NewRegistry(), "/docs tells what there is"))
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   fields
	raw    string
}

func (a answer) text(name string) string {
	text, _ := a.body[name].(string)
	return text
}

// problem checks that the answer is a complete problem document with the status and code.
func (a answer) problem(t testing.TB, status int, code string) {
	t.Helper()
	if a.status != status || a.text("code") != code {
		t.Errorf("got %d %s, want %d %s: %s", a.status, a.text("code"), status, code, a.raw)
	}
	if a.header.Get("Content-Type") != "application/problem+json" || a.header.Get("X-Request-Id") == "" ||
		a.body["status"] != float64(a.status) || a.text("title") == "" || a.text("detail") == "" {
		t.Errorf("an incomplete problem: %v %s", a.header, a.raw)
	}
}

// locations returns the locations of the invalid fields in a problem.
func (a answer) locations() string {
	var all []string
	list, _ := a.body["errors"].([]any)
	for _, item := range list {
		field, _ := item.(map[string]any)
		location, _ := field["location"].(string)
		all = append(all, location)
	}
	return strings.Join(all, " ")
}

func post(t testing.TB, handler http.Handler, path string, body any, extra headers) answer {
	t.Helper()
	raw, isText := body.(string)
	if !isText {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(encoded)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(raw))
	request.Header.Set("Content-Type", "application/json")
	for name, value := range extra {
		request.Header.Set(name, value)
	}
	return send(t, handler, request)
}

func send(t testing.TB, handler http.Handler, request *http.Request) answer {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	a := answer{status: recorder.Code, header: recorder.Header(), raw: recorder.Body.String()}
	if media := a.header.Get("Content-Type"); strings.Contains(media, "json") && media != "application/x-ndjson" {
		if err := json.NewDecoder(bytes.NewReader(recorder.Body.Bytes())).Decode(&a.body); err != nil {
			t.Errorf("not JSON: %v in %q", err, a.raw)
		}
	}
	return a
}
