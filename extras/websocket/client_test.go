// extra:chat

package websocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	ws "github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"example.com/threads/tests/graphqltest"
)

// protocolMessage is a message of graphql-transport-ws.
type protocolMessage struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// clientSocket is a WebSocket with the protocol graphql-transport-ws.
type clientSocket struct {
	conn  *ws.Conn
	pings int
	close ws.CloseError // once the connection is closed
}

func dial(t *testing.T, a *graphqltest.API, header http.Header, init string) *clientSocket {
	t.Helper()
	conn, response, err := ws.Dial(t.Context(), a.URL, &ws.DialOptions{HTTPHeader: header, Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	s := &clientSocket{conn: conn}
	if init != notInitialized {
		s.send(t, protocolMessage{Type: "connection_init", Payload: json.RawMessage(init)})
	}
	return s
}

// notInitialized makes dial send no connection_init.
const notInitialized = "not initialized"

// initialized returns a WebSocket after connection_ack.
func initialized(t *testing.T, a *graphqltest.API) *clientSocket {
	t.Helper()
	s := dial(t, a, nil, `{}`)
	if m := s.receive(t); m.Type != "connection_ack" {
		t.Fatalf("%+v", m)
	}
	return s
}

// wantQuiet checks that only the answer to a ping arrives.
func (s *clientSocket) wantQuiet(t *testing.T) {
	t.Helper()
	s.send(t, protocolMessage{Type: "ping", Payload: json.RawMessage(`{"nothing": "else"}`)})
	if m := s.receive(t); m.Type != "pong" {
		t.Errorf("%s %s %s", m.Type, m.ID, m.Payload)
	}
}

// wantClose checks that the connection was closed with the code and reason.
func (s *clientSocket) wantClose(t *testing.T, about string, code ws.StatusCode, reason string) {
	t.Helper()
	m := s.receive(t)
	for m.Type == graphqltest.EventNext || m.Type == "connection_ack" {
		m = s.receive(t)
	}
	if m.Type != graphqltest.EventCut || s.close.Code != code || !strings.Contains(s.close.Reason, reason) {
		t.Errorf("%s: %s %s, closed with %d %q, want %d %q", about, m.Type, m.Payload, s.close.Code, s.close.Reason, code, reason)
	}
}

func (s *clientSocket) send(t *testing.T, m protocolMessage) {
	t.Helper()
	if err := wsjson.Write(t.Context(), s.conn, m); err != nil {
		t.Fatal(err)
	}
}

// receive waits for the next message, and answers pings. After the end it returns a message of type
// graphqltest.EventCut.
func (s *clientSocket) receive(t *testing.T) protocolMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), graphqltest.Patience)
	defer cancel()
	for {
		var m protocolMessage
		err := wsjson.Read(ctx, s.conn, &m)
		switch {
		case ctx.Err() != nil:
			t.Fatal("nothing came")
		case errors.As(err, &s.close), err != nil:
			return protocolMessage{Type: graphqltest.EventCut}
		case m.Type == "ping":
			s.pings++
			s.send(t, protocolMessage{Type: "pong"})
		default:
			return m
		}
	}
}

func (s *clientSocket) subscribe(t *testing.T, id, document string) {
	t.Helper()
	s.subscribeWith(t, id, document, nil)
}

func (s *clientSocket) subscribeWith(t *testing.T, id, document string, variables map[string]any) {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	s.send(t, protocolMessage{ID: id, Type: "subscribe", Payload: payload})
}

func subscribe(t *testing.T, a *graphqltest.API, with graphqltest.Asked, document string) graphqltest.Stream {
	t.Helper()
	s := dial(t, a, with.TenantHeader(), `{}`)
	if m := s.receive(t); m.Type != "connection_ack" {
		t.Fatalf("%+v", m)
	}
	s.subscribeWith(t, "1", document, with.Variables)
	return s
}

func (s *clientSocket) Signs() int { return s.pings }

func (s *clientSocket) Take(t *testing.T) (string, graphqltest.Answer) {
	t.Helper()
	m := s.receive(t)
	var got graphqltest.Answer
	switch m.Type {
	case graphqltest.EventNext:
		decode(t, m.Payload, &got)
	case graphqltest.EventError:
		decode(t, m.Payload, &got.Errors)
	case graphqltest.EventComplete, graphqltest.EventCut:
	default:
		t.Fatalf("%s %s", m.Type, m.Payload)
	}
	return m.Type, got
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}
