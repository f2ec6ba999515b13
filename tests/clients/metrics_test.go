package clients

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"example.com/threads/tests/programs"
)

// TestMetrics has the linter of Prometheus's own promtool read what every program measures.
func TestMetrics(t *testing.T) {
	s := start(t)
	standalone := programs.New(t, binaries, "standalone", []string{"LOG_LEVEL=warn", "DATA_DIR=" + filepath.Join(t.TempDir(), "data")},
		"WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR")
	standalone.Start(t)
	for name, program := range map[string]*programs.Program{
		"write-api": s.write, "read-model-updater": s.updater, "read-api": s.read, "standalone": standalone,
	} {
		for _, url := range program.URLs {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := promlint.New(response.Body).Lint()
			_ = response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s: %v", name, response.Status, err)
			}
			for _, problem := range problems {
				t.Errorf("%s: %s: %s", name, problem.Metric, problem.Text)
			}
		}
	}
}
