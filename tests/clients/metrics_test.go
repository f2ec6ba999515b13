package clients

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"example.com/threads/tests/programs"
)

// promtoolTime limits a run of promtool, including its first download.
const promtoolTime = time.Minute

// TestMetrics checks the metrics of every program with promtool. If promtool is not available, it uses promtool's
// linter, which is a library.
func TestMetrics(t *testing.T) {
	tool := promtool(t)
	s := start(t)
	standalone := programs.New(t, binaries, "standalone", []string{"LOG_LEVEL=warn", "DATA_DIR=" + filepath.Join(t.TempDir(), "data")},
		"WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR")
	standalone.Start(t)
	for name, program := range map[string]*programs.Program{
		"write-api": s.write, "read-model-updater": s.updater, "read-api": s.read, "standalone": standalone,
	} {
		for _, url := range program.URLs {
			page := metrics(t, url)
			problems, err := promlint.New(bytes.NewReader(page)).Lint()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, problem := range problems {
				t.Errorf("%s: %s: %s", name, problem.Metric, problem.Text)
			}
			if tool == "" {
				continue
			}
			if output, err := runPromtool(t, page, tool, "check", "metrics"); err != nil {
				t.Errorf("%s: promtool check metrics: %v\n%s", name, err, output)
			}
		}
	}
}

func metrics(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || len(page) == 0 {
		t.Fatalf("%s/metrics: %s, %d bytes, %v", url, response.Status, len(page), err)
	}
	return page
}

// promtool returns the path of promtool. If promtool is not available, it logs that and returns "".
func promtool(t *testing.T) string {
	t.Helper()
	path, err := runPromtool(t, nil, "../../tools/dev/promtool.sh")
	if err != nil {
		t.Logf("checked by promtool's linter alone: %s", path)
		return ""
	}
	if output, err := runPromtool(t, []byte("# TYPE a counter\na 1\n"), path, "check", "metrics"); err == nil {
		t.Fatalf("%s accepts a counter without help and without _total:\n%s", path, output)
	}
	return path
}

func runPromtool(t *testing.T, input []byte, command string, args ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), promtoolTime)
	defer cancel()
	run := exec.CommandContext(ctx, command, args...)
	run.Stdin, run.WaitDelay = bytes.NewReader(input), time.Second
	said, err := run.CombinedOutput()
	return strings.TrimSpace(string(said)), err
}
