package docs_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.com/threads/cmd/write-api/docs"
)

var (
	loads  = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	inline = regexp.MustCompile(`<script>|<style|\son\w+=|style=`)
)

func served() http.Handler {
	mux := chi.NewRouter()
	docs.AddTo(mux)
	return mux
}

func send(handler http.Handler, request *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

// TestTheDocsPageLoadsNothingFromElsewhere follows the page's links. The policy forbids the browser to load more.
func TestTheDocsPageLoadsNothingFromElsewhere(t *testing.T) {
	handler := served()
	get := func(path, encoding string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		request.Header.Set("Accept-Encoding", encoding)
		return send(handler, request)
	}
	page := get("/docs", "")
	policy := page.Header().Get("Content-Security-Policy")
	if page.Code != http.StatusOK || strings.Contains(policy, "http") || !strings.Contains(policy, "script-src 'self';") {
		t.Errorf("%d with %q", page.Code, policy)
	}
	if inline.MatchString(page.Body.String()) {
		t.Errorf("the page contains something that the policy forbids: %s", page.Body.String())
	}
	found := loads.FindAllStringSubmatch(page.Body.String(), -1)
	if len(found) != 4 {
		t.Errorf("the page loads %v", found)
	}
	for _, match := range found {
		path := match[1]
		if !strings.HasPrefix(path, "/docs/") {
			t.Errorf("the page loads %s", path)
		}
		plain := get(path, "")
		if plain.Code != http.StatusOK || plain.Header().Get("Content-Encoding") != "" || plain.Body.Len() == 0 {
			t.Errorf("%s: %d, %d bytes", path, plain.Code, plain.Body.Len())
		}
		if packed := get(path, "gzip, br"); packed.Code != http.StatusOK || packed.Header().Get("Content-Encoding") == "gzip" && packed.Body.Len() > plain.Body.Len()+100 {
			t.Errorf("%s: packed %d, %d bytes", path, packed.Code, packed.Body.Len())
		}
	}
	if script := get("/docs/docs.js", ""); !strings.Contains(script.Body.String(), `url: "/openapi.json"`) {
		t.Errorf("the page shows something else: %s", script.Body.String())
	}
}

// Conditions and ranges are ignored: these files have one version and are always sent completely.
func TestTheDocsPageComesWhole(t *testing.T) {
	handler := served()
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/favicon-32x32.png", "/docs/swagger-ui.css"} {
		for name, value := range map[string]string{"Range": "bytes=9999999-", "If-Match": `"x"`} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			request.Header.Set(name, value)
			if a := send(handler, request); a.Code != http.StatusOK || a.Body.Len() == 0 {
				t.Errorf("%s with %s: %d %q", path, name, a.Code, a.Body.String())
			}
		}
	}
}
