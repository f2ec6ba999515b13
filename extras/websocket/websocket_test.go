// extra:chat

package websocket_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"example.com/threads/extras/websocket"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

var transport = graphqltest.Transport{
	Around: func(endpoint *graphql.Handler, log *slog.Logger, keepAlive time.Duration) func(http.Handler) http.Handler {
		return websocket.Settings{KeepAlive: keepAlive}.Around(endpoint, log)
	},
	Subscribe: subscribe,
	Refusal:   graphqltest.EventError,
}

// TestWebSockets runs the contract of streams on WebSockets.
func TestWebSockets(t *testing.T) { graphqltest.Suite(t, transport) }

// serve runs an endpoint with WebSockets until the test ends.
func serve(t *testing.T, db *readmodeltest.Database, s websocket.Settings) *graphqltest.API {
	t.Helper()
	return graphqltest.Serve(t, db, graphqltest.Settings{Around: s.Around})
}

func TestWhoMayOpenAWebSocket(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{})
	own := a.URL
	for name, test := range map[string]struct {
		origin, tenant string
		protocols      []string
		status         int
	}{
		"own page":         {own, "acme", []string{"graphql-transport-ws"}, http.StatusSwitchingProtocols},
		"no browser":       {"", "", []string{"other", "graphql-transport-ws"}, http.StatusSwitchingProtocols},
		"another page":     {"https://evil.example", "", []string{"graphql-transport-ws"}, http.StatusForbidden},
		"a page of null":   {"null", "", []string{"graphql-transport-ws"}, http.StatusForbidden},
		"another port":     {"http://127.0.0.1:1", "", []string{"graphql-transport-ws"}, http.StatusForbidden},
		"the old protocol": {own, "", []string{"graphql-ws"}, http.StatusBadRequest},
		"no protocol":      {own, "", nil, http.StatusBadRequest},
		"malformed tenant": {own, "ACME", []string{"graphql-transport-ws"}, http.StatusBadRequest},
	} {
		header := http.Header{}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}
		if test.tenant != "" {
			header.Set("X-Tenant-Code", test.tenant)
		}
		conn, response, err := ws.Dial(t.Context(), a.URL, &ws.DialOptions{HTTPHeader: header, Subprotocols: test.protocols})
		if response == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if response.Body != nil {
			_ = response.Body.Close()
		}
		if response.StatusCode != test.status {
			t.Errorf("%s: %d, want %d", name, response.StatusCode, test.status)
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
	}
}

func TestTheTenantOfAWebSocket(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	for name, test := range map[string]struct {
		header, init string
		code         string
		closed       bool
	}{
		"header":             {header: "acme", init: ``},
		"connection_init":    {init: `{"X-Tenant-Code": "acme"}`},
		"both":               {header: "acme", init: `{"X-Tenant-Code": "acme"}`},
		"neither":            {init: `{}`, code: "NOT_FOUND"},
		"another":            {init: `{"X-Tenant-Code": "globex"}`, code: "NOT_FOUND"},
		"they contradict":    {header: "acme", init: `{"X-Tenant-Code": "globex"}`, closed: true},
		"contradict to \"\"": {header: "acme", init: `{"X-Tenant-Code": ""}`, closed: true},
		"malformed":          {init: `{"X-Tenant-Code": "Acme"}`, closed: true},
		"not a text":         {init: `{"X-Tenant-Code": 7}`, closed: true},
	} {
		header := http.Header{}
		if test.header != "" {
			header.Set("X-Tenant-Code", test.header)
		}
		s := dial(t, a, header, test.init)
		if m := s.receive(t); test.closed {
			if m.Type != graphqltest.EventCut || s.close.Code != 4400 || !strings.Contains(s.close.Reason, "BAD_USER_INPUT") {
				t.Errorf("%s: %s, %d %q", name, m.Type, s.close.Code, s.close.Reason)
			}
			continue
		} else if m.Type != "connection_ack" {
			t.Errorf("%s: %+v", name, m)
		}
		s.subscribe(t, "1", graphqltest.Follow(chat, alice))
		if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != test.code {
			t.Errorf("%s: %s %q, want %q", name, event, got.Code(), test.code)
		}
	}
}

func TestOneWebSocketHasSoManySubscriptionsAndNoMore(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := initialized(t, a)
	const most = 256
	for i := range most {
		s.subscribe(t, fmt.Sprint(i), graphqltest.Follow(chat, alice))
		if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "" {
			t.Fatalf("%d: %s %q", i, event, got.Code())
		}
	}
	s.subscribe(t, "one operation too many", graphqltest.Follow(chat, alice))
	transport.WantRefusal(t, s, "TOO_MANY_OPERATIONS")
	// Ending one operation makes room at once, and the others continue.
	s.send(t, protocolMessage{ID: "7", Type: "complete"})
	s.subscribe(t, "after", graphqltest.Follow(chat, alice))
	if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "" {
		t.Errorf("after ending one: %s %q", event, got.Code())
	}
	// Some are enough for this: the reads of all of them at once take long with the race detector.
	const others = 32
	for i := others; i < most; i++ {
		s.send(t, protocolMessage{ID: fmt.Sprint(i), Type: "complete"})
	}
	w.Rename(chat, "the others see this")
	for range others {
		graphqltest.TakeThread(t, s)
	}
}

func TestBadOperationsOnAWebSocket(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{})
	s := initialized(t, a)
	s.subscribe(t, "good", `{ __typename }`)
	if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "" {
		t.Errorf("%s %q", event, got.Code())
	}
	if event, _ := s.Take(t); event != graphqltest.EventComplete {
		t.Errorf("then %s", event)
	}
	for _, payload := range []string{
		`{"query": "subscription { nothing }"}`, `{"query": "{"}`, `{"query": "query A { __typename }", "operationName": "B"}`,
		`{"query": "query($n: Int!) { __typename }", "variables": {"n": "x"}}`, `{"query": ""}`, `{"query": 5}`, `{"query": null}`, `{}`, `null`, `5`, `[]`, `"query"`,
		`{"query": "{ __typename }", "variables": []}`, `{"query": "{ __typename }", "operationName": 5}`, `{"query": "{ __typename }", "extensions": "x"}`,
	} {
		s.send(t, protocolMessage{ID: "1", Type: "subscribe", Payload: json.RawMessage(payload)})
		if m := s.receive(t); m.Type != "error" || m.ID != "1" || !strings.Contains(string(m.Payload), `"code":"BAD_USER_INPUT"`) {
			t.Errorf("%s: %s %s", payload, m.Type, m.Payload)
		}
		s.wantQuiet(t) // nothing follows the error, and the connection stays open
	}
	s.send(t, protocolMessage{ID: "1", Type: "subscribe"})
	transport.WantRefusal(t, s, "BAD_USER_INPUT")
	s.wantQuiet(t)
}

func TestAHandshakeThatIsNone(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Upgrade": {"websocket"}, "Sec-Websocket-Protocol": {"graphql-transport-ws"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("by POST: %d", response.StatusCode)
	}
}

// A timeout ends the operation but not the connection.
func TestTheConnectionOutlastsAnOperationThatTakesTooLong(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a := graphqltest.Serve(t, db, graphqltest.Settings{Settings: graphql.Settings{QueryTimeout: 2 * time.Second}, Around: websocket.Settings{}.Around})
	alice := readmodeltest.NewUser()
	document := `{ getThread(` + graphqltest.IDs(db.World(t, "").Thread("chat", alice), alice) + `) { name } }`
	db.Counted.SetMaxOpenConns(1)
	conn, err := db.Counted.Conn(t.Context()) // the only connection for queries
	if err != nil {
		t.Fatal(err)
	}
	s := initialized(t, a)
	s.subscribe(t, "1", document)
	if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "UNAVAILABLE" {
		t.Errorf("%s %+v", event, got.Errors)
	}
	if event, _ := s.Take(t); event != graphqltest.EventComplete {
		t.Errorf("then %s", event)
	}
	_ = conn.Close()
	s.subscribe(t, "2", document)
	if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "" {
		t.Errorf("the next one: %s %+v", event, got.Errors)
	}
}

func TestTheStopSaysThatTheServerIsGoingAway(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{})
	s := initialized(t, a)
	a.StopStreams()
	s.wantClose(t, "a stop", ws.StatusGoingAway, "the server is stopping")
}
