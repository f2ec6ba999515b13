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

// A new application must be a good start: it builds, its tests pass, and nothing in it is about chat.
func TestANewApplicationHasNothingOfChat(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds everything")
	}
	to := filepath.Join(t.TempDir(), "shop")
	if err := (newApp{module: "example.org/my-Shop", aggregate: "order"}).run(t.Context(), "../../..", to, nil); err != nil {
		t.Fatal(err)
	}
	if left := treecopy.Do(t, to, "sh", "-c", "git grep --cached -i -n -E 'thread|chat' || true"); left != "" {
		t.Errorf("left of chat:\n%s", left)
	}
	treecopy.Do(t, to, "go", "build", "./...")
	treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./interfaceadaptor/...", "./cmd/standalone", "./tests/architecture")
	if unformatted := treecopy.Do(t, to, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
}

func TestNewApplicationsThatAreNone(t *testing.T) {
	for about, test := range map[string]struct {
		app    newApp
		extras []string
	}{
		"no module":                       {newApp{"", "order"}, nil},
		"a module without a host":         {newApp{"shop", "order"}, nil},
		"a name that is no word":          {newApp{"example.org/7", "order"}, nil},
		"the application's name":          {newApp{"example.org/order", "order"}, nil},
		"an aggregate that is not a word": {newApp{"example.org/shop", "Purchase Order"}, nil},
		"an extra that is about chat":     {newApp{"example.org/shop", "order"}, []string{"tasks"}},
	} {
		if err := test.app.run(t.Context(), "../../..", filepath.Join(t.TempDir(), "shop"), test.extras); err == nil {
			t.Errorf("%s: it is made", about)
		}
	}
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
