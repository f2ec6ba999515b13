package graphql_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
)

// Any HTTP request must be answered.
func FuzzHTTP(f *testing.F) {
	f.Add("POST", "application/json", "application/json", "acme", "", `{"query":"{ __typename }"}`)
	f.Add("GET", "", "text/event-stream", "", "01ARZ3NDEKTSV4RRFFQ69G5FAV:1", "")
	h := graphql.NewHandler(f.Context(), nil, graphqltest.Executable(nil), slog.New(slog.DiscardHandler), graphql.Settings{})
	f.Fuzz(func(t *testing.T, method, media, accept, tenant, tokens, body string) {
		if method != http.MethodGet {
			method = http.MethodPost
		}
		if strings.Contains(body, "thread") || strings.Contains(body, "get") || tokens != "" {
			return // it would be executed, and this test has no data
		}
		request := httptest.NewRequestWithContext(t.Context(), method, "/graphql", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": media, "Accept": accept, "X-Tenant-Code": tenant} {
			request.Header.Set(name, value)
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		if recorder.Code >= http.StatusInternalServerError {
			t.Errorf("%d %s", recorder.Code, recorder.Body)
		}
		_, _ = io.Copy(io.Discard, recorder.Body)
	})
}
