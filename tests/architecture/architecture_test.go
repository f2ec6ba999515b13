package architecture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
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
			t.Errorf("no package of %s was looked at", layer)
		}
	}
}

// load asks the go command for the imports of every package, test files apart.
func load(t *testing.T) architecture.Graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", architecture.Module+"/...")
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
