// extra:chat

package access_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/threads/extras/access"
)

const page = "https://app.example.com"

// ask sends a request with headers through the guard to a handler that answers "done".
func ask(t *testing.T, list, method string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	allowed, err := access.ParseOrigins(list)
	if err != nil {
		t.Fatal(err)
	}
	handler := allowed.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }))
	request := httptest.NewRequestWithContext(t.Context(), method, "http://threads.example.com/threads/create", nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestPagesOfAllowedOrigins(t *testing.T) {
	preflight := ask(t, page, http.MethodOptions, "Origin", page, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type,prefer,x-executor-id", "Sec-Fetch-Site", "cross-site")
	if preflight.Code != http.StatusNoContent || preflight.Header().Get("Access-Control-Allow-Origin") != page ||
		!strings.Contains(preflight.Header().Get("Access-Control-Allow-Headers"), "x-executor-id") ||
		!strings.Contains(preflight.Header().Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d, %v", preflight.Code, preflight.Header())
	}
	answer := ask(t, "http://localhost:3000, "+page, http.MethodPost, "Origin", page, "Sec-Fetch-Site", "cross-site")
	if answer.Body.String() != "done" || answer.Header().Get("Access-Control-Allow-Origin") != page || answer.Header().Get("Vary") != "Origin" {
		t.Errorf("%s, %v", answer.Body, answer.Header())
	}
	if exposed := answer.Header().Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Preference-Applied") {
		t.Errorf("pages can read %s", exposed)
	}
	if answer.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Error("credentials are allowed")
	}
}

func TestPagesOfOtherOrigins(t *testing.T) {
	for about, headers := range map[string][]string{
		"by Sec-Fetch-Site": {"Sec-Fetch-Site", "cross-site"},
		"of the same site":  {"Sec-Fetch-Site", "same-site", "Origin", "https://evil.example.com"},
		"an old browser":    {"Origin", "https://evil.example.com"},
		"without an origin": {"Origin", "null"},
		"a longer name":     {"Origin", page + ".evil.example"},
	} {
		for _, list := range []string{"", page} {
			answer := ask(t, list, http.MethodPost, headers...)
			if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), `"forbidden"`) || answer.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, allowed %q: %d %s", about, list, answer.Code, answer.Body)
			}
		}
	}
	preflight := ask(t, "", http.MethodOptions, "Origin", page, "Access-Control-Request-Method", "POST")
	if preflight.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight of a page of another origin: %v", preflight.Header())
	}
}

func TestWhoIsNoPageOfAnotherOrigin(t *testing.T) {
	for about, headers := range map[string][]string{
		"no browser":                        nil,
		"a page of the server's own origin": {"Origin", "http://threads.example.com", "Sec-Fetch-Site", "same-origin"},
		"the same in an older browser":      {"Origin", "http://threads.example.com"},
	} {
		if answer := ask(t, "", http.MethodPost, headers...); answer.Body.String() != "done" {
			t.Errorf("%s: %d %s", about, answer.Code, answer.Body)
		}
	}
}

func TestOriginsThatAreNone(t *testing.T) {
	for _, list := range []string{"*", "example.com", "https://", "https://a.example/path", "https://a.example/", "ftp://a.example", "null", "https://u:p@a.example"} {
		if _, err := access.ParseOrigins(list); err == nil {
			t.Errorf("%q was accepted", list)
		}
	}
}
