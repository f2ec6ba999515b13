package graphql

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/coder/websocket"

	"example.com/threads/usecase/query"
)

func FuzzRequest(f *testing.F) {
	f.Add(`{"query":"{ __typename }","variables":{"n":1},"operationName":null,"extensions":{}}`, "query=%7B__typename%7D&variables=%7B%7D")
	f.Add(`[]`, "query=a;b")
	f.Fuzz(func(_ *testing.T, body, parameters string) {
		_, _ = paramsFromJSON("body", []byte(body))
		_, _ = paramsFromURL(&url.URL{RawQuery: parameters})
		_ = negotiate(http.Header{"Accept": {body, parameters}})
		_ = saysJSON(http.Header{"Content-Type": {body}})
	})
}

func FuzzMessage(f *testing.F) {
	f.Add(`{"type":"connection_init","payload":{"authorization":"Bearer x"}}`)
	f.Add(`{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		m, err := readMessage(websocket.MessageText, []byte(raw))
		if err != nil {
			return
		}
		said, _ := readObject("payload", m.Payload)
		_, _ = tenantIn(said, http.Header{tenantHeader: {"acme"}})
		encoded := m.encode()
		if again, err := readMessage(websocket.MessageText, encoded); err != nil || again.ID != m.ID || again.Type != m.Type {
			t.Errorf("%q is written as %s, which is %+v, %v", raw, encoded, again, err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(threadCursors.encode(query.Position{At: 7, ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}))
	f.Add("dGhyZWFkcw")
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := threadCursors.decode("after", &cursor)
		if err != nil {
			return
		}
		again := threadCursors.encode(position)
		if decoded, err := threadCursors.decode("after", &again); err != nil || decoded != position {
			t.Errorf("%q is %+v, and written again %+v, %v", cursor, position, decoded, err)
		}
	})
}
