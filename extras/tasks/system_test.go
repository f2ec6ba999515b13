package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/tests/sqlitetest"
	"example.com/threads/usecase/chat"
)

const (
	adaID    = "01H42K4ABWQ5V2XQEP3A48VE0A"
	bobID    = "01H42K4ABWQ5V2XQEP3A48VE0B"
	eveID    = "01H42K4ABWQ5V2XQEP3A48VE0E"
	nobodyID = "01H42K4ABWQ5V2XQEP3A48VE0N"
)

// system is the write side with tasks, over a real event store.
type system struct {
	http.Handler
	tasks *es.Service[task.Task, task.Order, task.Event]
	all   []rest.Aggregate
}

func newSystem(t *testing.T) system {
	t.Helper()
	return newSystemWith(t, 0, 0)
}

func newSystemWith(t *testing.T, ownerBytes, tenantBytes int) system {
	t.Helper()
	_, db := sqlitetest.New(t)
	log := slog.New(slog.DiscardHandler)
	store, err := sqlstore.New(t.Context(), db, sqlstore.Settings{OwnerBytes: ownerBytes, TenantBytes: tenantBytes})
	if err != nil {
		t.Fatal(err)
	}
	onThreads := es.NewService(eventjson.Threads(), store, es.Settings{})
	onTasks := es.NewService(task.Aggregate(), store, es.Settings{})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(onThreads.Close(ctx), onTasks.Close(ctx), store.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	work := tasks.Store{Events: store, Handle: onTasks.Handle, Thread: onThreads.Reload}
	all := []rest.Aggregate{rest.Threads(chat.WithCodes(onThreads, es.Sequence{Store: store, Kind: chat.CodeKind})), tasks.Operations(work, log)}
	mux := rest.NewHandler(all, rest.Settings{
		Source: "write-api", Log: log, Timeout: 10 * time.Second,
		Revise: work.Accept, Describe: []func(*huma.OpenAPI){tasks.Describe(all)},
	})
	return system{httpserver.Wrap(log, nil, nil, httpserver.WithProblems(mux, "")), onTasks, all}
}

// forOperators has a command that tasks can't send.
var forOperators = rest.Aggregate{Name: "tenants", Operations: []rest.Operation{
	{Path: "/tenants/suspend", Right: admission.Operate, Do: rest.Command(chat.Service[thread.Command](fails{}), func(r es.Result) tasks.TaskReply { return tasks.TaskReply{TaskID: r.Key.ID} }, suspend.asked)},
}}

type suspend struct{ rest.By }

func (suspend) asked() es.Request[thread.Command] { return es.Request[thread.Command]{} }

// fails fails with an error, or does nothing.
type fails struct{ err error }

func (f fails) Handle(context.Context, es.Request[thread.Command]) (es.Result, error) {
	return es.Result{Version: 1}, f.err
}

func (f fails) Snapshot(context.Context, es.Caller, string) (uint64, error) { return 1, f.err }

type (
	fields  map[string]any
	headers map[string]string
)

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

// problem checks that the answer is a problem with the status and code.
func (a answer) problem(t *testing.T, status int, code string) {
	t.Helper()
	if a.status != status || a.text("code") != code || a.header.Get("Content-Type") != rest.MediaProblem {
		t.Errorf("got %d %s, want %d %s: %s", a.status, a.text("code"), status, code, a.raw)
	}
}

// do sends a command that is accepted.
func (s system) do(t *testing.T, path string, body fields, extra headers) answer {
	t.Helper()
	a := post(t, s, path, body, extra)
	if a.status != http.StatusOK && a.status != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, a.status, a.raw)
	}
	return a
}

func (s system) get(t *testing.T, path string, extra headers) answer {
	t.Helper()
	return send(t, s, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), extra)
}

func post(t *testing.T, handler http.Handler, path string, body any, extra headers) answer {
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
	request.Header.Set("Content-Type", rest.MediaJSON)
	return send(t, handler, request, extra)
}

func send(t *testing.T, handler http.Handler, request *http.Request, extra headers) answer {
	t.Helper()
	for name, value := range extra {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	a := answer{status: recorder.Code, header: recorder.Header(), raw: recorder.Body.String()}
	if media := a.header.Get("Content-Type"); media == rest.MediaJSON || media == rest.MediaProblem {
		if err := json.NewDecoder(bytes.NewReader(recorder.Body.Bytes())).Decode(&a.body); err != nil {
			t.Errorf("not JSON: %v in %q", err, a.raw)
		}
	}
	return a
}
