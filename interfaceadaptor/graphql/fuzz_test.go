package graphql

import (
	"net/http"
	"net/url"
	"testing"

	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

func FuzzRequest(f *testing.F) {
	f.Add(`{"query":"{ __typename }","variables":{"n":1},"operationName":null,"extensions":{}}`, "query=%7B__typename%7D&variables=%7B%7D")
	f.Add(`[]`, "query=a;b")
	f.Fuzz(func(_ *testing.T, body, parameters string) {
		_, _ = ParseOperation("body", []byte(body))
		_, _ = paramsFromURL(&url.URL{RawQuery: parameters})
		_ = negotiate(http.Header{"Accept": {body, parameters}})
		_ = admission.Sends(http.Header{"Content-Type": {body}}, mediaJSON)
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(threadCursors.encode(query.Position{At: 7, ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}))
	f.Add(threadCursors.encode(query.Position{At: -1, ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}))
	f.Add("dGhyZWFkcw")
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := threadCursors.decode("after", &cursor)
		if err != nil {
			return
		}
		if position.At < 0 {
			t.Errorf("%q is %+v, which no list has", cursor, position)
		}
		again := threadCursors.encode(position)
		if decoded, err := threadCursors.decode("after", &again); err != nil || decoded != position {
			t.Errorf("%q is %+v, and written again %+v, %v", cursor, position, decoded, err)
		}
	})
}
