package page

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func passOn(t *testing.T, program *httptest.Server) proxy {
	t.Helper()
	target, err := url.Parse(program.URL)
	if err != nil {
		t.Fatal(err)
	}
	return proxy{name: "program", target: target, stopping: t.Context(), log: slog.New(slog.DiscardHandler)}
}

// A program may begin its answer while the body is still on its way: both must arrive whole.
func TestAnAnswerMayBeginBeforeTheBodyHasEnded(t *testing.T) {
	t.Parallel()
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		controller := http.NewResponseController(w)
		_ = controller.EnableFullDuplex()
		_, _ = io.WriteString(w, "begun ")
		_ = controller.Flush()
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(program.Close)
	server := httptest.NewServer(passOn(t, program))
	t.Cleanup(server.Close)

	body, sent := io.Pipe()
	answered := make(chan struct{})
	go func() {
		_, _ = io.WriteString(sent, "one ")
		<-answered
		_, _ = io.WriteString(sent, "two")
		_ = sent.Close()
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = int64(len("one two"))
	response, err := http.DefaultClient.Do(request)
	close(answered)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != "begun one two" {
		t.Errorf("got %q, %v", got, err)
	}
}

// deadlines records how long a connection may be read, and how long each piece of the answer may be written.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Duration
	pieces      []time.Duration
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = time.Until(at).Round(time.Second)
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = time.Until(at).Round(time.Second)
	return nil
}

func (d *deadlines) Write(piece []byte) (int, error) {
	d.pieces = append(d.pieces, d.write)
	d.write = 0
	return d.ResponseRecorder.Write(piece)
}

// The page must not end what the write-api allows: a long upload, and a long answer. Without a body, a time to read
// would end a slow answer: the server reads on to see whether the client has gone.
func TestTheTimeForARequest(t *testing.T) {
	t.Parallel()
	var atProgram time.Duration // for the answer, when the program has the request
	var recorder *deadlines
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		atProgram = recorder.write
		for range 3 {
			_, _ = io.WriteString(w, "piece")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(program.Close)
	for path, want := range map[string]struct {
		body        string
		read, write time.Duration
	}{
		"/tasks/import":   {"{}", importTimeout, importTimeout}, // extra:tasks
		"/threads/create": {"{}", uploadTimeout, 0},
		"/tasks/1/result": {"", 0, 0},
	} {
		recorder = &deadlines{ResponseRecorder: httptest.NewRecorder()}
		method := http.MethodPost
		if want.body == "" {
			method = http.MethodGet
		}
		passOn(t, program).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(want.body)))
		if recorder.read != want.read || atProgram != want.write {
			t.Errorf("%s: %s to read, %s until the answer begins", path, recorder.read, atProgram)
		}
		for _, each := range recorder.pieces {
			if each != answerTimeout {
				t.Errorf("%s: the pieces have %s", path, recorder.pieces)
			}
		}
		if recorder.Body.String() != "piecepiecepiece" {
			t.Errorf("%s: %s", path, recorder.Body)
		}
	}
}
