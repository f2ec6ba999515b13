package main

import (
	"path/filepath"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

// The core must need no extra.
func TestTheCoreStandsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds everything")
	}
	to := filepath.Join(t.TempDir(), "core")
	if err := run(t.Context(), "../../..", to, nil); err != nil {
		t.Fatal(err)
	}
	treecopy.Do(t, to, "go", "vet", "./...")
	treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./cmd/...", "./tests/architecture")
}

func TestWhatCanNotBeCopied(t *testing.T) {
	full := t.TempDir()
	for about, test := range map[string]struct {
		to     string
		extras []string
	}{
		"no folder":            {"", nil},
		"a folder with a file": {filepath.Dir(full), nil},
		"no extra":             {filepath.Join(full, "core"), []string{"nothing"}},
	} {
		if err := run(t.Context(), "../../..", test.to, test.extras); err == nil {
			t.Errorf("%s: it is copied", about)
		}
	}
}
