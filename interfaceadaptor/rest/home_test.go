package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHome(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if a := send(t, handler, request); a.text("service") != "write-api" || a.text("docs") != "/docs" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	a := send(t, handler, request)
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(a.raw, `href="/docs"`) {
		t.Errorf("%v %s", a.header, a.raw)
	}
}
