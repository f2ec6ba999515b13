package browser

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// Without the failure lab, the generated types lack what the lab describes: the page's source must do without it.
func TestThePageNeedsNoLab(t *testing.T) {
	install(t)
	to := t.TempDir()
	sources := filepath.Dir(packages)
	err := filepath.WalkDir(sources, func(path string, entry fs.DirEntry, err error) error {
		below, _ := filepath.Rel(sources, path)
		switch {
		case err != nil:
			return err
		case path == packages:
			if err := os.Symlink(absolute(t, path), filepath.Join(to, below)); err != nil {
				return err
			}
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		}
		text, err := os.ReadFile(path)
		if entry.Name() == "requests.ts" {
			rest := ofTheLab.ReplaceAll(text, nil)
			if len(rest) == len(text) {
				t.Error("the types have nothing of the lab")
			}
			text = rest
		}
		return errors.Join(err, os.WriteFile(filepath.Join(to, below), text, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), filepath.Join(packages, ".bin", "tsc"), "-p", to).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// ofTheLab are the types of the lab's routes, and those routes.
var ofTheLab = regexp.MustCompile(`(?m)^(  '\w+ /lab/.*|export type (Faults|NewRows) =.*)\n`)

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
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
