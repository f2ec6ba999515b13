package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who changes the page on a machine without Node leaves its bundles as they were.
func TestTheBundlesAreOfTheSources(t *testing.T) {
	t.Chdir("..") // as go generate
	for entry, out := range bundles {
		digest, err := digestOf(entry)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, out))
		first, _, _ := strings.Cut(string(text), "\n")
		if err != nil || !strings.HasSuffix(first, "Sources: "+digest) {
			t.Errorf("%s is not bundled from the sources as they are: run make generate where Node 18 or newer is, with npm: %s, %v", out, first, err)
		}
	}
}
