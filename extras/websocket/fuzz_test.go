package websocket

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"example.com/threads/interfaceadaptor/graphql"
)

func FuzzMessage(f *testing.F) {
	f.Add(`{"type":"connection_init","payload":{"authorization":"Bearer x"}}`)
	f.Add(`{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		m, err := readMessage(websocket.MessageText, []byte(raw))
		if err != nil {
			return
		}
		said, _ := graphql.ReadObject("payload", m.Payload)
		_, _ = tenantOf(said, http.Header{tenantHeader: {"acme"}})
		encoded := m.encode()
		if again, err := readMessage(websocket.MessageText, encoded); err != nil || again.ID != m.ID || again.Type != m.Type {
			t.Errorf("%q is written as %s, which is %+v, %v", raw, encoded, again, err)
		}
	})
}
