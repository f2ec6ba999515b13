package page

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

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
	target, err := url.Parse(program.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy{name: "program", target: target, stopping: t.Context(), log: slog.New(slog.DiscardHandler)})
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
