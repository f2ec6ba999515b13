package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

var (
	loads  = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	inline = regexp.MustCompile(`<script>|<style|\son\w+=|style=`)
)

// TestTheDocsPageLoadsNothingFromElsewhere follows the page's links. The policy forbids the browser to load more.
func TestTheDocsPageLoadsNothingFromElsewhere(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	get := func(path, encoding string) answer {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		request.Header.Set("Accept-Encoding", encoding)
		return send(t, handler, request)
	}
	page := get("/docs", "")
	policy := page.header.Get("Content-Security-Policy")
	if page.status != http.StatusOK || strings.Contains(policy, "http") || !strings.Contains(policy, "script-src 'self';") {
		t.Errorf("%d with %q", page.status, policy)
	}
	if inline.MatchString(page.raw) {
		t.Errorf("the page contains something that the policy forbids: %s", page.raw)
	}
	found := loads.FindAllStringSubmatch(page.raw, -1)
	if len(found) != 4 {
		t.Errorf("the page loads %v", found)
	}
	for _, match := range found {
		path := match[1]
		if !strings.HasPrefix(path, "/docs/") {
			t.Errorf("the page loads %s", path)
		}
		plain := get(path, "")
		if plain.status != http.StatusOK || plain.header.Get("Content-Encoding") != "" || plain.raw == "" {
			t.Errorf("%s: %d, %d bytes", path, plain.status, len(plain.raw))
		}
		if packed := get(path, "gzip, br"); packed.status != http.StatusOK || len(packed.raw) > len(plain.raw) {
			t.Errorf("%s: packed %d, %d bytes", path, packed.status, len(packed.raw))
		}
	}
	if script := get("/docs/docs.js", ""); !strings.Contains(script.raw, `url: "/openapi.json"`) {
		t.Errorf("the page shows something else: %s", script.raw)
	}
}

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

// Conditions and ranges are ignored: these files have one version and are always sent completely.
func TestTheDocsPageComesWhole(t *testing.T) {
	handler := handlerOf(willing, io.Discard)
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/favicon-32x32.png", "/docs/swagger-ui.css"} {
		for name, value := range map[string]string{"Range": "bytes=9999999-", "If-Match": `"x"`} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			request.Header.Set(name, value)
			if a := send(t, handler, request); a.status != http.StatusOK || a.raw == "" {
				t.Errorf("%s with %s: %d %q", path, name, a.status, a.raw)
			}
		}
	}
}
