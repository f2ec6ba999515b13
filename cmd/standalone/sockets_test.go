// extra:whole

package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const unauthorized, forbiddenSocket = websocket.StatusCode(4401), websocket.StatusCode(4403)

// closeOf returns the close code of a connection.
func closeOf(err error) websocket.StatusCode { return websocket.CloseStatus(err) }

func TestWhoAWebSocketIsOf(t *testing.T) {
	w := newWorld(t, "threads:write")
	bearer := func(actor string) string { return "Bearer " + w.tokens[actor] }
	for about, c := range map[string]struct {
		payload map[string]any
		header  http.Header
		want    websocket.StatusCode // -1: the connection is accepted
	}{
		"no token":             {nil, nil, unauthorized},
		"no bearer":            {map[string]any{"authorization": w.tokens[member]}, nil, unauthorized},
		"no text":              {map[string]any{"authorization": 7}, nil, unauthorized},
		"expired":              {map[string]any{"authorization": "Bearer " + w.tokenFor(t, bob, acme, usual, -time.Minute)}, nil, unauthorized},
		"without the scope":    {map[string]any{"authorization": bearer(unscoped)}, nil, forbiddenSocket},
		"another tenant":       {map[string]any{"authorization": bearer(member), "X-Tenant-Code": "other"}, nil, forbiddenSocket},
		"in connection_init":   {map[string]any{"authorization": bearer(member)}, nil, -1},
		"as GraphiQL sends it": {map[string]any{"Authorization": bearer(member)}, nil, -1},
		"with its tenant":      {map[string]any{"authorization": bearer(member), "X-Tenant-Code": acme}, nil, -1},
		"in the handshake":     {nil, http.Header{"Authorization": {bearer(member)}}, -1},
		"in both, a bad one":   {map[string]any{"authorization": "Bearer x.y.z"}, http.Header{"Authorization": {bearer(member)}}, unauthorized},
	} {
		_, err := w.connect(t, c.payload, c.header)
		if code := closeOf(err); code != c.want || (err == nil) != (c.want == -1) {
			t.Errorf("%s: %v", about, err)
		}
	}
	if _, err := w.connect(t, nil, http.Header{"Authorization": {"Bearer x.y.z"}}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a bad token in the handshake: %v", err)
	}
}

// A page of any origin can open a WebSocket without CORS, so the server must accept only its own origin and the allowed
// ones.
func TestTheOriginOfAWebSocket(t *testing.T) {
	const allowed = "https://app.example.com"
	r := start(t, map[string]string{"ALLOWED_ORIGINS": allowed})
	for origin, good := range map[string]bool{"": true, r.read: true, allowed: true, "https://evil.example.com": false, "null": false} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		if _, err := r.connect(t, nil, header); (err == nil) != good {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

func TestASubscriptionEndsWithItsToken(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	w := newWorld(t, usual)
	thread := w.newThread(t)
	document := fmt.Sprintf(`subscription { threadChanged(threadId: %q) { version } }`, thread.id)
	const lifetime = 6 * time.Second
	t.Run("server-sent events", func(t *testing.T) {
		var codes []string
		begun := time.Now()
		w.events(t, w.tokenFor(t, bob, acme, usual, lifetime), document, func(event, data string) bool {
			if event == "next" {
				codes = append(codes, answer{raw: data}.errorCode())
			}
			return event != "complete"
		})
		expectExpiry(t, codes, time.Since(begun), lifetime)
	})
	t.Run("WebSocket", func(t *testing.T) {
		begun := time.Now()
		conn, err := w.connect(t, map[string]any{"authorization": "Bearer " + w.tokenFor(t, bob, acme, usual, lifetime)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		subscribe(t, conn, "1", document)
		var codes []string
		for {
			got, err := next(t, conn)
			if err != nil {
				var closed websocket.CloseError
				if !errors.As(err, &closed) || closed.Code != forbiddenSocket || !strings.HasPrefix(closed.Reason, "UNAUTHENTICATED") {
					t.Errorf("the connection was closed with %v", err)
				}
				break
			}
			if got.Type == "next" {
				codes = append(codes, answer{raw: string(got.Payload)}.errorCode())
			}
		}
		expectExpiry(t, codes, time.Since(begun), lifetime)
	})
}

// expectExpiry checks for answers, then the error that the token has expired, and nothing after it.
func expectExpiry(t *testing.T, codes []string, took, lifetime time.Duration) {
	t.Helper()
	if len(codes) < 2 || codes[0] != "" || codes[len(codes)-1] != "UNAUTHENTICATED" {
		t.Errorf("the answers' codes are %q", codes)
	}
	if took < lifetime-1500*time.Millisecond || took > lifetime+10*time.Second { // times in tokens are whole seconds
		t.Errorf("the subscription ended after %s", took)
	}
}
