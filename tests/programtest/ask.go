package programtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Answer is a program's HTTP response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// CheckGuarded checks that the response forbids content sniffing, storing, and loading what a page could. about names
// the request in the error.
func (a Answer) CheckGuarded(t *testing.T, about string) {
	t.Helper()
	if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s: %d without a guard: %v", about, a.Status, a.Header)
	}
}

// Get sends a GET request.
func Get(t *testing.T, url string) Answer {
	t.Helper()
	return Ask(t, http.MethodGet, url, "", nil)
}

// Post sends JSON.
func Post(t *testing.T, url, body string, header map[string]string) Answer {
	t.Helper()
	return Ask(t, http.MethodPost, url, body, header)
}

// Ask sends a request of any method as JSON.
func Ask(t *testing.T, method, url, body string, header map[string]string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answered, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, string(answered)}
}
