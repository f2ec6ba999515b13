package architecture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/tests/architecture"
)

func TestImportsFollowTheLayers(t *testing.T) {
	graph := load(t)
	for _, violation := range architecture.Violations(graph) {
		t.Error(violation)
	}
	for _, layer := range []string{"domain", "usecase", "interfaceadaptor", "infrastructure", "cmd"} {
		if !contains(graph, architecture.Module+"/"+layer+"/") {
			t.Errorf("no package of %s was checked", layer)
		}
	}
}

// An extra that has a README names there the extras that it imports.
func TestExtrasNameTheExtrasThatTheyImport(t *testing.T) {
	for pkg, imports := range load(t) {
		extra, is := extraOf(pkg)
		readme, err := os.ReadFile(filepath.Join("../..", extra, "README.md"))
		if !is || err != nil {
			continue
		}
		for _, imported := range imports {
			if other, is := extraOf(imported); is && other != extra && !strings.Contains(string(readme), "`"+other+"`") {
				t.Errorf("%s imports %s, and %s/README.md does not say so", pkg, imported, extra)
			}
		}
	}
}

// extraOf returns the folder of the extra that a package belongs to.
func extraOf(pkg string) (folder string, is bool) {
	path, is := strings.CutPrefix(pkg, architecture.Module+"/extras/")
	name, _, _ := strings.Cut(path, "/")
	return "extras/" + name, is
}

// load reads the imports of every package, without test files, from the go command.
func load(t *testing.T) architecture.Graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", architecture.Module+"/...", architecture.Module+"/es/...")
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	graph := architecture.Graph{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return graph
		} else if err != nil {
			t.Fatal(err)
		}
		graph[pkg.ImportPath] = pkg.Imports
	}
}

func contains(graph architecture.Graph, prefix string) bool {
	for pkg := range graph {
		if strings.HasPrefix(pkg, prefix) {
			return true
		}
	}
	return false
}
