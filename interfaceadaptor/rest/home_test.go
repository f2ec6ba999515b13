package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHome(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if a := send(t, handler, request); a.text("service") != "write-api" || a.text("docs") != "/docs" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
