// extra:chat

package websocket_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/websocket"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

// TestWhatAWebSocketIsClosedFor sends what graphql-transport-ws forbids.
func TestWhatAWebSocketIsClosedFor(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	document, err := json.Marshal(graphqltest.Follow(w.Thread("chat", alice), alice))
	if err != nil {
		t.Fatal(err)
	}
	subscribe := func(id string) string {
		return `{"id": ` + id + `, "type": "subscribe", "payload": {"query": ` + string(document) + `}}`
	}
	const init = `{"type": "connection_init"}`
	for name, test := range map[string]struct {
		sent   []string
		code   ws.StatusCode
		reason string
	}{
		"init with a number":      {[]string{`{"type": "connection_init", "payload": 5}`}, 4400, "object"},
		"init with a list":        {[]string{`{"type": "connection_init", "payload": []}`}, 4400, "object"},
		"not JSON":                {[]string{`hello`}, 4400, "JSON"},
		"a list":                  {[]string{`[]`}, 4400, "JSON"},
		"null":                    {[]string{`null`}, 4400, "type"},
		"TYPE":                    {[]string{init, `{"TYPE": "ping"}`}, 4400, "type"},
		"no type":                 {[]string{init, `{"id": "1"}`}, 4400, "type"},
		"an unknown type":         {[]string{init, `{"id": "1", "type": "start"}`}, 4400, `"start"`},
		"a type of the server's":  {[]string{init, `{"id": "1", "type": "next"}`}, 4400, `"next"`},
		"a very long type":        {[]string{`{"type": "` + strings.Repeat("é", 1000) + `"}`}, 4400, "é"},
		"a type that is a number": {[]string{init, `{"id": "1", "type": 5}`}, 4400, "JSON"},
		"ping with a text":        {[]string{init, `{"type": "ping", "payload": "x"}`}, 4400, "object"},
		"pong with a list":        {[]string{init, `{"type": "pong", "payload": []}`}, 4400, "object"},
		"subscribe without id":    {[]string{init, `{"type": "subscribe", "payload": {"query": "{ __typename }"}}`}, 4400, "id"},
		"subscribe, empty id":     {[]string{init, subscribe(`""`)}, 4400, "id"},
		"subscribe, id a number":  {[]string{init, subscribe(`1`)}, 4400, "JSON"},
		"complete without id":     {[]string{init, `{"type": "complete"}`}, 4400, "id"},
		"subscribe before init":   {[]string{subscribe(`"1"`)}, 4401, "Unauthorized"},
		"one id twice":            {[]string{init, subscribe(`"one"`), subscribe(`"one"`)}, 4409, "Subscriber for one already exists"},
		"a very long id twice":    {[]string{init, subscribe(`"` + strings.Repeat("é", 999) + `"`), subscribe(`"` + strings.Repeat("é", 999) + `"`)}, 4409, "Subscriber for é"},
		"init twice":              {[]string{init, init}, 4429, "Too many initialisation requests"},
		"too long":                {[]string{init, `{"type": "ping", "payload": {"x": "` + strings.Repeat("x", 64<<10) + `"}}`}, 1009, "read limited"},
	} {
		s := dial(t, a, nil, notInitialized)
		for _, text := range test.sent {
			if err := s.conn.Write(t.Context(), ws.MessageText, []byte(text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.wantClose(t, name, test.code, test.reason)
	}
	binary := dial(t, a, nil, notInitialized)
	if err := binary.conn.Write(t.Context(), ws.MessageBinary, []byte(init)); err != nil {
		t.Fatal(err)
	}
	binary.wantClose(t, "a binary frame", 4400, "text frame")
	graphqltest.WantNoConnections(t, a)
}

// TestAWebSocketLeavesNothingOpen has clients that disconnect without a close frame, at different moments.
func TestAWebSocketLeavesNothingOpen(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	for _, init := range []string{notInitialized, `5`, `[]`, `"x"`, `{"X-Tenant-Code": 7}`, `{}`, ``} {
		s := dial(t, a, nil, init)
		if err := s.conn.CloseNow(); err != nil {
			t.Error(err)
		}
	}
	s := initialized(t, a)
	s.subscribe(t, "1", graphqltest.Follow(chat, alice))
	graphqltest.TakeThread(t, s)
	if err := s.conn.CloseNow(); err != nil {
		t.Error(err)
	}
	graphqltest.WantNoConnections(t, a)
}

func TestAWebSocketHasToBeInitializedInTime(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{InitTimeout: 2 * time.Second})
	in := initialized(t, a)
	for _, active := range []bool{false, true} {
		s := dial(t, a, nil, notInitialized)
		if active {
			s.send(t, protocolMessage{Type: "ping"})
			if m := s.receive(t); m.Type != "pong" {
				t.Errorf("ping before init: %+v", m)
			}
			s.send(t, protocolMessage{Type: "pong"})
		}
		s.wantClose(t, "no init", 4408, "Connection initialisation timeout")
	}
	in.wantQuiet(t) // well after the timeout
}

func TestPings(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{})
	s := dial(t, a, nil, notInitialized)
	for _, payload := range []string{``, `{"a":1}`, `null`} {
		s.send(t, protocolMessage{Type: "ping", Payload: json.RawMessage(payload)})
		if m := s.receive(t); m.Type != "pong" || payload == `{"a":1}` && string(m.Payload) != payload {
			t.Errorf("%s: %+v", payload, m)
		}
		s.send(t, protocolMessage{Type: "pong", Payload: json.RawMessage(payload)}) // a pong is allowed at any time
		s.send(t, protocolMessage{Type: "connection_init"})
		if m := s.receive(t); m.Type != "connection_ack" {
			t.Errorf("%s: %+v", payload, m)
		}
		s.send(t, protocolMessage{Type: "pong"})
		s.wantQuiet(t)
		s = dial(t, a, nil, notInitialized)
	}
}

func TestAClientThatAnswersNoPingIsCutOff(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), websocket.Settings{KeepAlive: 50 * time.Millisecond})
	s := initialized(t, a)
	pings := 0
	for {
		_, raw, err := s.conn.Read(t.Context())
		if err != nil {
			break
		}
		if strings.Contains(string(raw), "ping") {
			pings++
		}
	}
	if pings != 2 {
		t.Errorf("cut off after %d pings", pings)
	}
	graphqltest.WantNoConnections(t, a)
}

// TestAnIdIsFreeAfterTheEnd reuses an id as soon as that is allowed, whichever side ended its operation.
func TestAnIdIsFreeAfterTheEnd(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := initialized(t, a)
	s.send(t, protocolMessage{ID: "never was", Type: "complete"})
	for range 50 {
		s.subscribe(t, "1", graphqltest.Follow(chat, alice))
		graphqltest.TakeThread(t, s)
		s.send(t, protocolMessage{ID: "1", Type: "complete"}) // the server does not answer it
		s.subscribe(t, "1", `{ __typename }`)
		if event, got := s.Take(t); event != graphqltest.EventNext || string(got.Data) != `{"__typename":"Query"}` {
			t.Fatalf("%s %s", event, got.Data)
		}
		if event, _ := s.Take(t); event != graphqltest.EventComplete {
			t.Fatal(event)
		}
		s.subscribe(t, "1", `{`)
		transport.WantRefusal(t, s, "BAD_USER_INPUT")
	}
	s.wantQuiet(t)
}

func TestABadOperationBesideGoodOnes(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, websocket.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("first", alice)
	s := initialized(t, a)
	s.subscribe(t, "good", graphqltest.Follow(chat, alice))
	graphqltest.TakeThread(t, s)
	s.subscribe(t, "bad", `subscription { nothing }`)
	transport.WantRefusal(t, s, "BAD_USER_INPUT")
	w.Rename(chat, "second")
	if name, _ := graphqltest.TakeThread(t, s); name != "second" {
		t.Errorf("the next event is %q", name)
	}
}

func TestHowManyConnectionsThereAre(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := graphqltest.Serve(t, db, graphqltest.Settings{Settings: graphql.Settings{ConnectionLimit: 3}, Around: websocket.Settings{}.Around}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	handshake := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "graphql-transport-ws",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	}
	refused := func(about string, header map[string]string, status int, code string) {
		t.Helper()
		got := a.Send(t, http.MethodGet, header, "")
		if got.Status != status || got.Code() != code {
			t.Errorf("%s: %d %q, want %d %q", about, got.Status, got.Code(), status, code)
		}
	}
	_, second := initialized(t, a), initialized(t, a)
	graphqltest.TakeThread(t, graphqltest.SubscribeByEvents(t, a, graphqltest.Asked{}, graphqltest.Follow(chat, alice)))
	refused("one WebSocket too many", handshake, http.StatusServiceUnavailable, "UNAVAILABLE")
	got := a.Send(t, http.MethodPost, map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream"}, `{"query": "{ __typename }"}`)
	if got.Status != http.StatusServiceUnavailable || got.Code() != "UNAVAILABLE" {
		t.Errorf("one event stream too many: %d %q", got.Status, got.Code())
	}
	if got := a.Ask(t, graphqltest.Asked{}, `{ __typename }`); got.Status != http.StatusOK {
		t.Errorf("a query: %d", got.Status)
	}
	// A closed connection makes room for another one.
	if err := second.conn.Close(ws.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	testenv.Eventually(t, graphqltest.Patience, func() error {
		conn, response, err := ws.Dial(t.Context(), a.URL, &ws.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		if err != nil {
			_ = response.Body.Close()
			return err
		}
		return conn.CloseNow()
	})
}
