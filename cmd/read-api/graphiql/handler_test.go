package graphiql_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.com/threads/cmd/read-api/graphiql"
)

func get(t *testing.T, path string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	mux := chi.NewRouter()
	graphiql.AddTo(mux)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	mux.ServeHTTP(recorder, request)
	return recorder
}

func TestThePageLoadsOnlyWhatIsServedHere(t *testing.T) {
	page := get(t, "/", nil)
	if page.Code != http.StatusOK || !strings.HasPrefix(page.Header().Get("Content-Security-Policy"), "default-src 'self';") {
		t.Fatalf("%d, policy %q", page.Code, page.Header().Get("Content-Security-Policy"))
	}
	references := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	loaded := 0
	for _, reference := range references {
		target := reference[1]
		if target == "data:," {
			continue
		}
		if !strings.HasPrefix(target, "/graphiql/") {
			t.Errorf("the page loads %s", target)
			continue
		}
		asset := get(t, target, nil)
		if asset.Code != http.StatusOK || asset.Body.Len() == 0 || asset.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d, %d bytes of %q", target, asset.Code, asset.Body.Len(), asset.Header().Get("Content-Type"))
		}
		loaded++
	}
	if loaded < 6 {
		t.Errorf("the page loads %d files", loaded)
	}
	remote := regexp.MustCompile(`(?i)(@import|url\(\s*['"]?(https?:)?//)`)
	if style := get(t, "/graphiql/graphiql.css", nil).Body.String(); remote.MatchString(style) {
		t.Error("the style sheet loads something from elsewhere")
	}
}

func TestAssetsArePackedForThoseWhoTakeIt(t *testing.T) {
	const path = "/graphiql/graphiql.js"
	plain, packed := get(t, path, nil), get(t, path, map[string]string{"Accept-Encoding": "br, gzip"})
	reader, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(reader)
	if err != nil || string(unpacked) != plain.Body.String() {
		t.Errorf("the packed form is another file (%v)", err)
	}
	again := get(t, path, map[string]string{"If-None-Match": plain.Header().Get("ETag")})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("asked again: %d with %d bytes", again.Code, again.Body.Len())
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, path := range []string{"/nothing", "/graphiql/", "/graphiql/index.html", "/graphiql/refresh.sh", "/assets/graphiql.js.gz"} {
		if got := get(t, path, nil); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}
