package tasks_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/tasks"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
)

// budget is a guard with room for so many bytes.
type budget struct {
	admission.Guard
	room, held int
}

func (*budget) Enter(ask admission.Ask) (admission.Principal, error) {
	return admission.Principal{Tenant: ask.Tenant}, nil
}

func (b *budget) Hold(n int) (release func(), err error) {
	if b.held+n > b.room {
		return nil, &admission.Refusal{Status: http.StatusTooManyRequests, Code: "too_many_requests"}
	}
	b.held += n
	return func() { b.held -= n }, nil
}

// watched calls on before each part of an answer is written.
type watched struct {
	*httptest.ResponseRecorder
	on func(part []byte)
}

func (w watched) Write(part []byte) (int, error) {
	w.on(part)
	return w.ResponseRecorder.Write(part)
}

// The memory of imports and results is limited by account, as that of all requests and answers.
func TestTheMemoryOfRequests(t *testing.T) { testenv.Bubble(t, testTheMemoryOfRequests) }

func testTheMemoryOfRequests(t *testing.T) {
	const most = 1 << 20 // the least that MIB_IN_FLIGHT can be
	w := newWorld()
	log := slog.New(slog.DiscardHandler)
	handler := rest.NewHandler([]rest.Aggregate{tasks.Operations(w.store(), log)}, rest.Settings{Log: log, Timeout: 10 * time.Second})
	serve := func(guard *budget, method, path string, body io.Reader, on func([]byte)) *httptest.ResponseRecorder {
		t.Helper()
		request := httptest.NewRequestWithContext(admission.With(t.Context(), guard), method, path, body)
		request.Header.Set("Content-Type", rest.MediaLines)
		request.Header.Set("X-Executor-Id", ada.String())
		recorder := watched{httptest.NewRecorder(), on}
		handler.ServeHTTP(recorder, request)
		if guard.held != 0 {
			t.Errorf("%s: %d bytes are held afterwards", path, guard.held)
		}
		return recorder.ResponseRecorder
	}
	nothing := func([]byte) {}

	guard := &budget{room: most}
	during := 0
	body := io.MultiReader(strings.NewReader(input(100)), reading(func() { during = guard.held }))
	if answer := serve(guard, http.MethodPost, "/tasks/import", body, nothing); answer.Code != http.StatusAccepted || during < tasks.MaxLine {
		t.Errorf("an import: %d %s; %d bytes are held", answer.Code, answer.Body, during)
	}
	if answer := serve(&budget{}, http.MethodPost, "/tasks/import", strings.NewReader(input(100)), nothing); answer.Code != http.StatusTooManyRequests || w.held() != 1 {
		t.Errorf("an import beyond the limit: %d %s; %d parts are stored", answer.Code, answer.Body, w.held())
	}

	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(1000)))
	id := created(t, result, err)
	_, want := w.finish(t, id)
	path, parts := "/tasks/"+id.String()+"/result", 0
	answer := serve(guard, http.MethodGet, path, nil, func(part []byte) {
		if parts++; guard.held != len(part) {
			t.Errorf("while %d bytes are written, %d are held", len(part), guard.held)
		}
	})
	if answer.Code != http.StatusOK || answer.Body.String() != want || parts < 3 {
		t.Errorf("a result in %d parts: %d %s", parts, answer.Code, answer.Body)
	}
	if answer := serve(&budget{}, http.MethodGet, path, nil, nothing); answer.Code != http.StatusTooManyRequests {
		t.Errorf("a result beyond the limit: %d %s", answer.Code, answer.Body)
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Error("a result that is cut short looks whole")
		}
	}()
	serve(guard, http.MethodGet, path, nil, func([]byte) { guard.room = 0 })
}

// reading calls a function when it is read, and is empty.
type reading func()

func (r reading) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}
