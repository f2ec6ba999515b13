package lab

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page links each promise to its test.
func TestThePageLinksItsTests(t *testing.T) {
	t.Chdir("../..")
	script, err := os.ReadFile("extras/lab/src/lab.tsx")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer((&Lab{}).Handler())
	defer server.Close()
	names := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(script), -1)
	if len(names) < 5 {
		t.Fatalf("the lab names the tests %q, want some for each promise", names)
	}
	for _, name := range names {
		status, text := get(t, server.URL+"/tests/"+name)
		if status != http.StatusOK || !strings.Contains(text, "func "+name+"(") || !strings.HasSuffix(text, "\n}\n") {
			t.Errorf("%s: status %d, %.200s", name, status, text)
		}
	}
	for _, name := range []string{"TestOfNothing", "testing", "Test.*", "..%2fgo.mod"} {
		if status, text := get(t, server.URL+"/tests/"+name); status != http.StatusNotFound {
			t.Errorf("%s: status %d, %s", name, status, text)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url) //nolint:noctx // the server is in this process
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
