package webhook

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es/projection"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/brokertest"
)

func TestWebhook(t *testing.T) {
	var mu sync.Mutex
	var arrived []brokertest.Got
	status, header := http.StatusNoContent, http.Header{}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "t0psecret" || r.URL.RawQuery != "token=t0psecret" {
			status = http.StatusUnauthorized
		}
		if status == http.StatusNoContent {
			arrived = append(arrived, brokertest.Got{ContentType: r.Header.Get("Content-Type"), Body: body})
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
	}))
	defer hook.Close()
	publish := brokertest.Open(t, Kind, strings.Replace(hook.URL, "http://", "http://ada:t0psecret@", 1)+"/hooks?token=t0psecret")
	brokertest.Publishes(t, publish, func() []brokertest.Got { return arrived })

	answer := func(code int, retryAfter string) error {
		mu.Lock()
		status, header = code, http.Header{"Retry-After": {retryAfter}}
		mu.Unlock()
		return publish(t.Context(), brokertest.Event(1, 10))
	}
	for _, code := range []int{400, 404, 410, 413, 422} {
		if !errors.Is(answer(code, ""), projection.ErrRefused) {
			t.Errorf("the status %d is not a refusal", code)
		}
	}
	for _, code := range []int{302, 408, 425, 429, 500, 503} {
		err := answer(code, "7")
		busy := (*publishing.BusyError)(nil)
		if errors.Is(err, projection.ErrRefused) || !errors.As(err, &busy) || busy.After != 7*time.Second {
			t.Errorf("%d: %v", code, err)
		}
		if strings.Contains(err.Error(), "t0psecret") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
	if busy := (*publishing.BusyError)(nil); !errors.As(answer(503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), &busy) || busy.After < 50*time.Minute {
		t.Errorf("a date in Retry-After is not read: %v", busy)
	}
	hook.Close()
	if err := brokertest.Fails(t, publish); err != nil && strings.Contains(err.Error(), "t0psecret") {
		t.Errorf("the error contains the password: %v", err)
	}
}

// Events of several aggregates are published at once, and the next ones need no new connections.
func TestConnectionsAreUsedAgain(t *testing.T) {
	const atOnce, rounds = 16, 5
	var made atomic.Int32
	all := make(chan struct{}, atOnce)
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		all <- struct{}{}
		for len(all) < atOnce {
			runtime.Gosched()
		}
	}))
	hook.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	hook.Start()
	defer hook.Close()
	publish := brokertest.Open(t, Kind, hook.URL)
	for range rounds {
		var posts errgroup.Group
		for range atOnce {
			posts.Go(func() error { return publish(t.Context(), brokertest.Event(1, 10)) })
		}
		if err := posts.Wait(); err != nil {
			t.Fatal(err)
		}
		for range atOnce {
			<-all
		}
	}
	if n := made.Load(); n > atOnce+2 { // one more may be on its way when another becomes free
		t.Errorf("%d connections for %d posts at once", n, atOnce)
	}
}

const words = "Rhubarbwords"

// says is a webhook that answers every request with these bytes.
func says(t *testing.T, answer string) publishing.Publish {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}))
	t.Cleanup(hook.Close)
	return brokertest.Open(t, Kind, hook.URL)
}

// What a broker says may be what it was sent: it is neither logged nor stored, as a person may be erased later.
func TestWhatABrokerSaysIsNotTold(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 422 " + words + "\r\nContent-Length: 12\r\n\r\n" + words: "the webhook answered 422 Unprocessable Entity",
		"HTTP/1.1 503 No\r\nX: " + words + "\r\nContent-Length: 0\r\n\r\n": "the webhook answered 503 Service Unavailable",
		"HTTP/1.1 307 No\r\nLocation: http://" + words + "\r\n\r\n":        "the webhook answered 307 Temporary Redirect",
		words + "\r\n\r\n":                                                    "no valid answer",
		"HTTP/1.1 " + words + "\r\n\r\n":                                      "no valid answer",
		"HTTP/1.1 200 OK\r\n" + words + "\r\n\r\n":                            "no valid answer",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + words + "\r\n\r\n" + words: "no valid answer",
	} {
		err := says(t, answer)(t.Context(), brokertest.Event(1, 10))
		if err == nil || strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
