package graphql

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"example.com/threads/usecase/query"
)

const fuzzedDocument = `query Q($n: Int = 3) { threads(userAccountId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", first: $n) { edges { node { ...T } } } }
fragment T on Thread { id members(first: 2) { edges { node { role } } } }`

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

// Any document must be refused or measured without a panic.
func FuzzDocument(f *testing.F) {
	f.Add(fuzzedDocument, `{"n": 500}`)
	f.Add(`subscription { threadChanged(threadId: "x", userAccountId: "y") { id } }`, `{}`)
	f.Add(`{ ...A } fragment A on Query { ...A }`, `null`)
	var broken strings.Builder
	e := engineWithoutData(slog.New(slog.NewTextHandler(&broken, nil)))
	f.Fuzz(func(t *testing.T, document, variables string) {
		params := &graphql.RawParams{Query: document}
		var err error
		if params.Variables, err = readObject("variables", []byte(variables)); err != nil {
			return
		}
		operation, refused := e.begin(t.Context(), params)
		if (operation == nil) == (refused == nil) {
			t.Errorf("%q is neither refused nor accepted", document)
		}
		if strings.Contains(broken.String(), "panic") {
			t.Errorf("%q: %s", document, broken.String())
		}
	})
}
