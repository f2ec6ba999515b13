package limits_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/limits"
	"example.com/threads/infrastructure/httpserver"
)

// running is a server with bounded connections.
type running struct {
	url  string
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, handler http.Handler) running { return serveWith(t, 100, handler) }

func serveWith(t *testing.T, most int, handler http.Handler) running {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	server, err := httpserver.Listen(t.Context(), log, "TEST_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Prepare = limits.Connections(most, log)
	ctx, stop := context.WithCancel(t.Context())
	r := running{url: server.URL(), stop: stop, done: make(chan error, 1)}
	go func() { r.done <- server.Serve(ctx, handler) }()
	t.Cleanup(stop)
	return r
}

func (r running) get(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

func (r running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not stop")
		return nil
	}
}

// dial opens a connection and sends text, which need not be HTTP.
func (r running) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A request that does not arrive completely is cut off, before a stop gives up on it.
func TestWhatNeverArrivesDoesNotDelayAStop(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: threads\r\n"
	for about, sent := range map[string]string{
		"a body that stops":                     head + "Content-Length: 100\r\n\r\n{",
		"a body in chunks":                      head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"headers that stop":                     head + "X-Slow: ",
		"a body that the handler does not read": "POST /unread HTTP/1.1\r\nHost: threads\r\nContent-Length: 100\r\n\r\n{",
		"nothing":                               "",
		"a request, and half of one":            "GET / HTTP/1.1\r\nHost: threads\r\n\r\n" + head,
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			served := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/unread" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
			}))
			served.dial(t, sent)
			response, err := served.get(t.Context()) // the requests sent before have arrived
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			served.stop()
			if err := served.wait(t); err != nil { // after its grace
				t.Error(err)
			}
		})
	}
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	ended := make(chan error, 1)
	served := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20))
		ended <- err
	}))
	served.dial(t, "GET / HTTP/1.1\r\nHost: threads\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("64 MiB were written although the client does not read")
		}
	case <-time.After(12 * time.Second):
		t.Error("the server still holds the answer")
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	served := serveWith(t, 2, http.NotFoundHandler())

	ask := func(conn net.Conn) (status int, err error) {
		// ignore the error: a refused connection may be closed already
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: threads\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	first, second := served.dial(t, ""), served.dial(t, "")
	for _, conn := range []net.Conn{first, second} {
		if status, err := ask(conn); err != nil || status != http.StatusNotFound {
			t.Fatalf("got %d, %v", status, err)
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(served.dial(t, "")), nil)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Fatalf("the third connection: %v, %v", response, err)
	}
	_ = response.Body.Close()
	_ = first.Close()
	testenv.Eventually(t, 10*time.Second, func() error {
		status, err := ask(served.dial(t, ""))
		if err == nil && status != http.StatusNotFound {
			err = errors.New(http.StatusText(status))
		}
		if err != nil {
			return fmt.Errorf("after a connection was closed: %w", err)
		}
		return nil
	})
}
