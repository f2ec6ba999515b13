package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"example.com/threads/extras/access"
)

// describedBehind returns the document of an API behind a gate.
func describedBehind(t *testing.T, gate *access.Gate) tree {
	t.Helper()
	nothing := http.NotFoundHandler()
	handler := NewHandler(nobodies, Settings{
		Source: "write-api", Log: slog.New(slog.DiscardHandler), Gate: gate, Alive: nothing, Ready: nothing, Metrics: nothing,
		Around: func(next http.Handler) http.Handler { return next },
	})
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	var doc tree
	if err := json.Unmarshal(recorder.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentAsksForTokens(t *testing.T) {
	open := describedBehind(t, &access.Gate{})
	guarded := describedBehind(t, &access.Gate{Verify: func(context.Context, string) (access.Principal, error) {
		return access.Principal{}, access.Unauthenticated("nobody is let in")
	}})
	if len(open.at("components", "securitySchemes")) != 0 {
		t.Error("an open API requires tokens")
	}
	told := func(doc tree) (required []any, statuses tree) {
		required, _ = doc.at("components", "schemas", "RenameThread")["required"].([]any)
		return required, doc.at("paths", "/threads/rename", "post", "responses")
	}
	required, statuses := told(open)
	if !slices.Contains(required, any(executorField)) || statuses["401"] != nil {
		t.Errorf("open: required is %v, and 401 %v", required, statuses["401"])
	}
	if guarded.at("components", "securitySchemes", bearerScheme)["scheme"] != "bearer" {
		t.Errorf("the security schemes are %v", guarded.at("components", "securitySchemes"))
	}
	required, statuses = told(guarded)
	if slices.Contains(required, any(executorField)) || len(required) == 0 {
		t.Errorf("guarded: required is %v", required)
	}
	for _, status := range []string{"401", "403", "429", "503"} {
		if statuses[status] == nil {
			t.Errorf("guarded: the answer %s is missing", status)
		}
	}
}
