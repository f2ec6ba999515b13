package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The library's README shows this program's code, and how to have the library in a module of one's own.
func TestReadme(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	program, tests := read("main.go"), read("main_test.go")
	library, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(read("../../README.md"), -1) {
		switch kind, text := block[1], block[2]; kind {
		case "go":
			if !strings.Contains(program, text) && !strings.Contains(tests, "\t"+text) {
				t.Errorf("the counter has no such lines:\n%s", text)
			}
		case "sh":
			scripts = append(scripts, strings.ReplaceAll(text, "/path/to/es", library))
		}
	}
	if len(scripts) != 1 {
		t.Fatalf("%d scripts, want 1", len(scripts))
	}
	if testing.Short() {
		return
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", "-ec", scripts[0]+"\ngo build -o counter .")
	command.Dir = folder
	command.Env = append(os.Environ(), "GOFLAGS=") // flags for another module's builds do not fit
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
