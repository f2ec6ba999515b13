package graphql_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// The kinds of events on a stream.
const (
	eventNext     = "next"
	eventError    = "error" // WebSockets only: the operation was not executed
	eventComplete = "complete"
	eventCut      = "cut" // the connection ended without a message about the subscription
)

// stream is a subscription for a client. take waits for the next event other than a keep-alive.
type stream interface {
	take(t *testing.T) (event string, got answer)
}

const streamPatience = 15 * time.Second

// transports are the ways to subscribe.
var transports = map[string]func(t *testing.T, a *testAPI, with asked, document string) stream{
	"WebSocket":          subscribeBySocket,
	"server-sent events": subscribeByEvents,
}

// takeThread takes the next state of the thread.
func takeThread(t *testing.T, s stream) (name string, version int) {
	t.Helper()
	event, got := s.take(t)
	if event != eventNext {
		t.Fatalf("%s, want a state", event)
	}
	var data struct {
		ThreadChanged struct {
			Name    string
			Version int
		}
	}
	got.into(t, &data)
	return data.ThreadChanged.Name, data.ThreadChanged.Version
}

// wantEnd takes the last answer, an error with the code, and the end.
func wantEnd(t *testing.T, s stream, code string) {
	t.Helper()
	event, got := s.take(t)
	for event == eventNext && got.code() == "" { // skip earlier states
		event, got = s.take(t)
	}
	if event != eventNext || got.code() != code || string(got.Data) != "null" {
		t.Fatalf("%s %q %s, want the error %s", event, got.code(), got.Data, code)
	}
	if event, _ := s.take(t); event != eventComplete {
		t.Errorf("%s after the error", event)
	}
}

// tenantHeader returns the header with the tenant; the tenant with the empty code needs none.
func (a asked) tenantHeader() http.Header {
	if a.tenant == "" {
		return http.Header{}
	}
	return http.Header{"X-Tenant-Code": {a.tenant}}
}

// events is a subscription by server-sent events.
type events struct {
	lines    *bufio.Scanner
	comments int
}

func subscribeByEvents(t *testing.T, a *testAPI, with asked, document string) stream {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": with.variables})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), streamPatience)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = with.tenantHeader()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, kind)
	}
	return &events{lines: bufio.NewScanner(response.Body)}
}

func (e *events) take(t *testing.T) (string, answer) {
	t.Helper()
	var event string
	var got answer
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case e.lines.Text() == "" && event != "":
			return event, got
		case field == "" && value != "":
			e.comments++
		case field == "event":
			event = value
		case field == "data" && value != "":
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
		}
	}
	if err := e.lines.Err(); errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("no event arrived: %v", err)
	}
	return eventCut, got
}

// protocolMessage is a message of graphql-transport-ws.
type protocolMessage struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// clientSocket is a WebSocket with the protocol graphql-transport-ws.
type clientSocket struct {
	conn  *websocket.Conn
	pings int
	close websocket.CloseError // once the connection is closed
}

func dial(t *testing.T, a *testAPI, header http.Header, init string) *clientSocket {
	t.Helper()
	conn, response, err := websocket.Dial(t.Context(), a.url, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{"graphql-transport-ws"}})
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
func initialized(t *testing.T, a *testAPI) *clientSocket {
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
func (s *clientSocket) wantClose(t *testing.T, about string, code websocket.StatusCode, reason string) {
	t.Helper()
	m := s.receive(t)
	for m.Type == eventNext || m.Type == "connection_ack" {
		m = s.receive(t)
	}
	if m.Type != eventCut || s.close.Code != code || !strings.Contains(s.close.Reason, reason) {
		t.Errorf("%s: %s %s, closed with %d %q, want %d %q", about, m.Type, m.Payload, s.close.Code, s.close.Reason, code, reason)
	}
}

func (s *clientSocket) send(t *testing.T, m protocolMessage) {
	t.Helper()
	if err := wsjson.Write(t.Context(), s.conn, m); err != nil {
		t.Fatal(err)
	}
}

// receive waits for the next message, and answers pings. After the end it returns a message of type eventCut.
func (s *clientSocket) receive(t *testing.T) protocolMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), streamPatience)
	defer cancel()
	for {
		var m protocolMessage
		err := wsjson.Read(ctx, s.conn, &m)
		switch {
		case ctx.Err() != nil:
			t.Fatal("nothing came")
		case errors.As(err, &s.close), err != nil:
			return protocolMessage{Type: eventCut}
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

func subscribeBySocket(t *testing.T, a *testAPI, with asked, document string) stream {
	t.Helper()
	s := dial(t, a, with.tenantHeader(), `{}`)
	if m := s.receive(t); m.Type != "connection_ack" {
		t.Fatalf("%+v", m)
	}
	s.subscribeWith(t, "1", document, with.variables)
	return s
}

func (s *clientSocket) take(t *testing.T) (string, answer) {
	t.Helper()
	m := s.receive(t)
	var got answer
	switch m.Type {
	case eventNext:
		decode(t, m.Payload, &got)
	case eventError:
		decode(t, m.Payload, &got.Errors)
	case eventComplete, eventCut:
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

// wantRefusal takes the only message about a refused operation.
func wantRefusal(t *testing.T, s stream, code string) {
	t.Helper()
	event, got := s.take(t)
	if _, isSocket := s.(*clientSocket); isSocket && event != eventError || event == eventCut || got.code() != code || got.Data != nil {
		t.Errorf("%s %q %s, want %s", event, got.code(), got.Data, code)
	}
	if event == eventError {
		return // see wantQuiet
	}
	if event, _ := s.take(t); event != eventComplete {
		t.Errorf("%s after the refusal", event)
	}
}
