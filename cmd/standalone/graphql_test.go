// extra:whole

package main

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

// apiSchema is the read API's schema by introspection.
type apiSchema map[string]schemaType

type schemaType struct {
	Name   string
	Kind   string
	Fields []struct {
		Name string
		Type typeRef
	}
}

type typeRef struct {
	Name   string
	OfType *typeRef
}

func (r typeRef) named() string {
	for r.OfType != nil {
		r = *r.OfType
	}
	return r.Name
}

func (w world) introspect(t *testing.T) apiSchema {
	t.Helper()
	got := w.ask(t, w.tokens[member], `{ __schema { types { name kind fields { name type { name ofType { name ofType { name ofType { name } } } } } } } }`)
	var decoded struct {
		Data struct {
			Schema struct{ Types []schemaType } `json:"__schema"`
		}
	}
	if err := json.Unmarshal([]byte(got.raw), &decoded); err != nil {
		t.Fatalf("%v: %s", err, got.raw)
	}
	found := apiSchema{}
	for _, kind := range decoded.Data.Schema.Types {
		found[kind.Name] = kind
	}
	return found
}

func (s apiSchema) fields(kind string) (names []string) {
	for _, field := range s[kind].Fields {
		names = append(names, field.Name)
	}
	return names
}

func (s apiSchema) typeOf(kind, field string) string {
	for _, f := range s[kind].Fields {
		if f.Name == field {
			return f.Type.named()
		}
	}
	return ""
}

// selection selects all fields of a type and of the types inside it.
func (s apiSchema) selection(kind string, depth int) string {
	if s[kind].Kind != "OBJECT" {
		return ""
	}
	var fields []string
	for _, field := range s[kind].Fields {
		of := field.Type.named()
		if s[of].Kind != "OBJECT" {
			fields = append(fields, field.Name)
		} else if depth > 1 {
			fields = append(fields, field.Name+" "+s.selection(of, depth-1))
		}
	}
	return "{ " + strings.Join(fields, " ") + " }"
}

// events subscribes by server-sent events. It passes each event to see until that returns false.
func (r *running) events(t *testing.T, token, document string, see func(event, data string) bool) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.read+"/graphql", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got := answer{status: response.StatusCode, header: response.Header}
	event := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if name, is := strings.CutPrefix(line, "event: "); is {
			event = name
		} else if data, is := strings.CutPrefix(line, "data:"); is {
			if !see(event, strings.TrimSpace(data)) {
				return got
			}
		} else if strings.HasPrefix(line, "{") {
			got.raw = line
		}
	}
	return got
}

// firstEvent returns the error code of the first event of a subscription by server-sent events; empty: no error.
func (r *running) firstEvent(t *testing.T, token, document string) string {
	t.Helper()
	first := answer{}
	got := r.events(t, token, document, func(_, data string) bool { first.raw = data; return false })
	if got.status != http.StatusOK {
		return got.errorCode()
	}
	return first.errorCode()
}

// frame is a message of graphql-transport-ws.
type frame struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// connect opens a WebSocket and sends connection_init with the payload. The error tells why it was not acknowledged.
func (r *running) connect(t *testing.T, payload map[string]any, header http.Header) (*websocket.Conn, error) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(r.read, "http", "ws", 1)+"/graphql", //nolint:bodyclose // of an upgrade
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := wsjson.Write(t.Context(), conn, frame{Type: "connection_init", Payload: raw}); err != nil {
		return nil, err
	}
	_, err = next(t, conn)
	return conn, err
}

// next returns the next message other than a ping.
func next(t *testing.T, conn *websocket.Conn) (frame, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		var got frame
		if err := wsjson.Read(ctx, conn, &got); err != nil || got.Type != "ping" {
			return got, err
		}
	}
}

func subscribe(t *testing.T, conn *websocket.Conn, id, document string) {
	t.Helper()
	payload, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	if err := wsjson.Write(t.Context(), conn, frame{ID: id, Type: "subscribe", Payload: payload}); err != nil {
		t.Fatal(err)
	}
}

// firstMessage returns the error code of the first answer to a subscription over a WebSocket; empty: no error.
func (r *running) firstMessage(t *testing.T, token, document string) string {
	t.Helper()
	payload := map[string]any{}
	if token != "" {
		payload["authorization"] = "Bearer " + token
	}
	conn, err := r.connect(t, payload, nil)
	if err != nil {
		return closedWith(err)
	}
	subscribe(t, conn, "1", document)
	got, err := next(t, conn)
	if err != nil {
		return closedWith(err)
	}
	if got.Type == "error" {
		return answer{raw: `{"errors":` + string(got.Payload) + `}`}.errorCode()
	}
	return answer{raw: string(got.Payload)}.errorCode()
}

// closedWith returns the code in the reason for closing a connection.
func closedWith(err error) string {
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return err.Error()
	}
	code, _, _ := strings.Cut(closed.Reason, ":")
	return code
}
