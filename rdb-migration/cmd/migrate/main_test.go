package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "rows.db")
	for _, step := range []struct{ args, want string }{
		{"--help", "DATABASE_URL"},
		{"status", "pending 00001"},
		{"up", "applied 00001"},
		{"up", "nothing to do"},
		{"status", "applied 00001"},
		{"down", "took 00001"},
		{"down", "nothing to take back"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(step.args), func(string) string { return url }, &out)
		if err != nil || !strings.Contains(out.String(), step.want) {
			t.Errorf("%s: %v and %q; want %q", step.args, err, out.String(), step.want)
		}
	}
}

func TestErrorsSayWhatIsExpected(t *testing.T) {
	for args, want := range map[string]string{"": "up, down, status", "sideways": "up, down, status", "up": "DATABASE_URL"} {
		err := run(t.Context(), strings.Fields(args), func(string) string { return "" }, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", args, err, want)
		}
	}
}
