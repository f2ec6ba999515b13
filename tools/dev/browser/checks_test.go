package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/threads/tools/dev/internal/npm"
)

// packages has what the page is made of, and what it is checked with.
var packages = filepath.Join(root, "extras/page/src/node_modules")

// install installs them unless they are installed.
func install(t *testing.T) {
	t.Helper()
	if err := npm.Install(t.Context(), filepath.Dir(packages)); err != nil {
		t.Fatal(err)
	}
}

func TestTheSourceIsTyped(t *testing.T) {
	t.Parallel()
	install(t)
	sources, err := filepath.Glob(filepath.Join(root, "extras/*/src/tsconfig.json"))
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		if output, err := exec.CommandContext(t.Context(), filepath.Join(packages, ".bin", "tsc"), "-p", source).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", source, err, output)
		}
	}
}

// accessible checks the page with axe for barriers, such as for people with low vision or without a mouse.
func (p *tab) accessible(about string) {
	p.t.Helper()
	axe, err := os.ReadFile(filepath.Join(packages, "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.run(chromedp.Evaluate(string(axe)+"; null", nil))
	found := evaluate[string](p, `axe.run({resultTypes: ['violations']}).then((result) => JSON.stringify(result.violations.map(
		(each) => ({id: each.id, impact: each.impact, help: each.help, nodes: each.nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary)}))))`)
	var violations []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, each := range violations {
		p.t.Errorf("%s: %s (%s): %s\n%s", about, each.ID, each.Impact, each.Help, strings.Join(each.Nodes, "\n"))
	}
}
