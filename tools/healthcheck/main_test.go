package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/health/ready" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("database: failed"))
		}
	}))
	t.Cleanup(server.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	for name, test := range map[string]struct {
		args []string
		code int
		said string // on stdout if healthy, on stderr otherwise
	}{
		"ready":         {[]string{server.URL + "/health/ready"}, 0, ""},
		"not ready":     {[]string{server.URL + "/"}, 1, "503 Service Unavailable: database: failed"},
		"nobody there":  {[]string{gone.URL}, 1, "connection refused"},
		"no URL":        {[]string{"write-api"}, 1, "unsupported protocol scheme"},
		"no argument":   {nil, 2, "Usage: healthcheck URL"},
		"two arguments": {[]string{server.URL, server.URL}, 2, "Usage: healthcheck URL"},
		"help":          {[]string{"--help"}, 0, "Usage: healthcheck URL"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), test.args, &stdout, &stderr); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			said, silent := &stderr, &stdout
			if test.code == 0 {
				said, silent = silent, said
			}
			if !strings.Contains(said.String(), test.said) || (test.said == "" && said.Len() > 0) || silent.Len() > 0 {
				t.Errorf("stdout is %q and stderr is %q, want %q", stdout.String(), stderr.String(), test.said)
			}
		})
	}
}
