// extra:whole

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"example.com/threads/es/estest/testenv"
)

// refused sends requests until one is refused and returns its answer.
func refused(t *testing.T, request func() answer) answer {
	t.Helper()
	for range 200 {
		if got := request(); got.status == http.StatusTooManyRequests {
			return got
		}
	}
	t.Fatal("no request was refused")
	return answer{}
}

func expectLimit(t *testing.T, about string, got answer) {
	t.Helper()
	wait, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || wait < 1 {
		t.Errorf("%s: Retry-After is %q", about, got.header.Get("Retry-After"))
	}
	if got.code() != "too_many_requests" && got.errorCode() != "TOO_MANY_REQUESTS" {
		t.Errorf("%s: %s", about, got.raw)
	}
}

func TestRequestsAreLimited(t *testing.T) {
	i := newIssuer(t)
	token := func(account, tenant string) string { return i.token(t, account, tenant, usual) }
	for limit, c := range map[string]struct{ limited, free string }{
		"RATE_LIMIT_ACCOUNT": {token(ada, acme), token(bob, acme)},
		"RATE_LIMIT_TENANT":  {token(ada, acme), token(ada, "other")},
		"RATE_LIMIT_ADDRESS": {"no token at all", ""},
	} {
		t.Run(limit, func(t *testing.T) {
			r := start(t, i.trusted(limit, "1"))
			command := func() answer { return r.do(t, c.limited, "/threads/create", map[string]any{"name": "tea"}) }
			query := func() answer { return r.ask(t, c.limited, "{ __typename }") }
			expectLimit(t, "commands", refused(t, command))
			expectLimit(t, "queries", refused(t, query))
			if c.free != "" {
				expectVerdict(t, "another one", r.do(t, c.free, "/threads/create", map[string]any{"name": "tea"}), ok)
			}
			if got, err := send(t, http.MethodGet, r.write+"/health/ready", "", nil); err != nil || got.status != http.StatusOK {
				t.Errorf("health is limited, too: %d, %v", got.status, err)
			}
			testenv.Eventually(t, 10*time.Second, func() error { // the limit recovers without action
				if got := command(); got.status == http.StatusTooManyRequests {
					return fmt.Errorf("still %s", got.raw)
				}
				return nil
			})
		})
	}
}

// Each operation on a WebSocket counts as a request.
func TestOperationsOnAWebSocketAreLimited(t *testing.T) {
	i := newIssuer(t)
	r := start(t, i.trusted("RATE_LIMIT_ACCOUNT", "1"))
	conn, err := r.connect(t, map[string]any{"authorization": "Bearer " + i.token(t, ada, acme, usual)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		subscribe(t, conn, fmt.Sprint(n), "{ __typename }")
	}
	for range 200 {
		got, err := next(t, conn)
		if err != nil {
			t.Fatal(err)
		}
		if got.Type == "error" {
			if !strings.Contains(string(got.Payload), "TOO_MANY_REQUESTS") {
				t.Errorf("got %s", got.Payload)
			}
			return
		}
	}
	t.Error("no operation was refused")
}

func TestWebSocketsWithoutAnInitAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	r := start(t, map[string]string{"WEBSOCKET_INIT_LIMIT": "1"})
	dial := func() (*websocket.Conn, error) {
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(r.read, "http", "ws", 1)+"/graphql", //nolint:bodyclose // of an upgrade
			&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		return conn, err
	}
	first, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.CloseNow() }()
	if _, err := dial(); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("the second one: %v", err)
	}
	if err := wsjson.Write(t.Context(), first, frame{Type: "connection_init"}); err != nil {
		t.Fatal(err)
	}
	if ack, err := next(t, first); err != nil || ack.Type != "connection_ack" {
		t.Fatalf("%+v, %v", ack, err)
	}
	second, err := dial()
	if err != nil {
		t.Fatalf("after connection_init of the first: %v", err)
	}
	_ = second.CloseNow()
	testenv.Eventually(t, 10*time.Second, func() error { // as it has left
		third, err := dial()
		if err == nil {
			_ = third.CloseNow()
		}
		return err
	})
}

func TestConnectionsOfAnAccountAreBounded(t *testing.T) {
	i := newIssuer(t)
	r := start(t, i.trusted("LIVE_CONNECTION_LIMIT_ACCOUNT", "2"))
	payload := func(account string) map[string]any {
		return map[string]any{"authorization": "Bearer " + i.token(t, account, acme, usual)}
	}
	first, err := r.connect(t, payload(ada), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.connect(t, payload(ada), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.connect(t, payload(ada), nil); closeOf(err) != 1013 {
		t.Errorf("the third operation: %v", err)
	}
	got := r.events(t, i.token(t, ada, acme, usual), `subscription { threadChanged(threadId: "`+ada+`") { id } }`, func(string, string) bool { return true })
	if got.status != http.StatusTooManyRequests {
		t.Errorf("a stream of events as the third operation: %d", got.status)
	}
	if _, err := r.connect(t, payload(bob), nil); err != nil {
		t.Errorf("an operation of another account: %v", err)
	}
	if said := r.said.String(); strings.Contains(said, "panic") {
		t.Error("a refused connection made the program panic")
	}
	_ = first.CloseNow()
	testenv.Eventually(t, 10*time.Second, func() error {
		_, err := r.connect(t, payload(ada), nil)
		return err
	})
}
