package httpserver_test

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
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
)

type running struct {
	url  string
	log  *testenv.Log
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, handler http.Handler) running {
	t.Helper()
	out := &testenv.Log{}
	log := logging.Settings{}.Logger(out)
	server, err := httpserver.Listen(t.Context(), log, "TEST_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := running{url: server.URL(), log: out, stop: stop, done: make(chan error, 1)}
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

// The edge of the limit that the API's description tells.
func TestTheURLAndTheHeadersAreLimited(t *testing.T) {
	server := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for size, status := range map[int]string{32_768: "200", 32_769: "431"} {
		begin, end := "GET /?", " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.WriteString(connection, begin+strings.Repeat("a", size-len(begin)-len(end))+end); err != nil {
			t.Fatal(err)
		}
		answer, err := bufio.NewReader(connection).ReadString('\n')
		if err != nil || !strings.Contains(answer, status) {
			t.Errorf("%d bytes: %q, %v", size, answer, err)
		}
		_ = connection.Close()
	}
}

func TestAStopFinishesWhatWasAccepted(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		if r.Context().Err() != nil {
			http.Error(w, "the request's context ended with the stop", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "finished")
	}))
	answer := make(chan string, 1)
	go func() {
		response, err := server.get(t.Context())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-entered
	server.stop()
	testenv.Eventually(t, 5*time.Second, func() error { // the stop has begun when new connections are refused
		if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.url, "http://")); err == nil {
			_ = conn.Close()
			return errors.New("the server still accepts connections")
		}
		return nil
	})
	select {
	case err := <-server.done:
		t.Fatalf("stopped while a request was running: %v", err)
	default:
	}
	close(leave)
	if got := <-answer; got != "finished" {
		t.Errorf("answer %q", got)
	}
	if err := server.wait(t); err != nil {
		t.Error(err)
	}
}

// TestAStopWaitsForHijackedConnections runs where WebSockets are. // extra:page|websocket {
func TestAStopWaitsForHijackedConnections(t *testing.T) {
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		close(entered)
		<-leave
		close(left)
	}))
	go func() {
		if response, err := server.get(t.Context()); err == nil {
			response.Body.Close()
		}
	}()
	<-entered
	server.stop()
	close(leave)
	if err := server.wait(t); err != nil {
		t.Error(err)
	}
	select {
	case <-left:
	default:
		t.Error("the server stopped before the hijacked connection's handler")
	}
	if !strings.Contains(server.log.String(), `"status":101`) {
		t.Errorf("no log line for the hijacked connection: %s", server.log)
	}
} // extra:page|websocket }

func TestAnAddressInUseSaysWhatToDo(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	first, err := httpserver.Listen(t.Context(), log, "READ_API_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if first.Addr().Port == 0 {
		t.Error("Addr does not have the real port")
	}
	_, err = httpserver.Listen(t.Context(), log, "READ_API_ADDR", first.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is in use: stop the program that listens there, or set READ_API_ADDR") {
		t.Errorf("got %v", err)
	}
	_, err = httpserver.Listen(t.Context(), log, "READ_API_ADDR", "nonsense")
	if err == nil || !strings.Contains(err.Error(), "set READ_API_ADDR to host:port") {
		t.Errorf("got %v", err)
	}
}
