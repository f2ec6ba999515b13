package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	treecopy.WithoutServices(t)
	treecopy.Do(t, to, "go", "vet", "./...")
	treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./cmd/...", "./tests/architecture")
}

// A new application must be a good start: it builds, without a word about chat. With RELEASE_CHECK its tests run, too.
func TestANewApplicationHasNothingOfChat(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds everything")
	}
	to := filepath.Join(t.TempDir(), "shop")
	if err := (newApp{module: "example.org/my-Shop", aggregate: "order"}).run(t.Context(), "../../..", to, []string{"operate", "page", "publishing", "tenants"}); err != nil {
		t.Fatal(err)
	}
	if left := treecopy.Do(t, to, "sh", "-c", "git grep --cached -i -n -E 'thread|chat' || true"); left != "" {
		t.Errorf("left of chat:\n%s", left)
	}
	if left := treecopy.Do(t, to, "sh", "-c", "git grep --cached -i -n -w -E 'messages|(an?|the|first|last|send|write) message' extras/page || true"); left != "" {
		t.Errorf("left of chat on the page:\n%s", left)
	}
	if unformatted := treecopy.Do(t, to, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
	treecopy.WithoutServices(t)
	treecopy.Do(t, to, "go", "build", "./...")
	if os.Getenv("RELEASE_CHECK") == "" {
		return // it takes minutes
	}
	treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./interfaceadaptor/...", "./cmd/standalone", "./tests/architecture")
	treecopy.Do(t, filepath.Join(to, "tools/dev"), "go", "test", "-count=1", "./browser") // in Chromium
}

// A copy must not name a document that it does not have.
func TestTheDocumentsThatACopyNamesAreThere(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it makes many copies")
	}
	extras, err := os.ReadDir("../../../extras")
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range extras {
		kept, err := withNeeded("../../..", []string{extra.Name()})
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "core")
		if err := copyTree(t.Context(), "../../..", to, append(slices.Clone(kept), chat)); err != nil {
			t.Fatal(err)
		}
		linksHold(t, to)
		if slices.Contains(aboutChat, extra.Name()) {
			continue
		}
		to = filepath.Join(t.TempDir(), "shop")
		if err := copyTree(t.Context(), "../../..", to, kept); err != nil {
			t.Fatal(err)
		}
		if err := (newApp{"example.org/shop", "order"}).overwrite("../../..", to, kept); err != nil {
			t.Fatal(err)
		}
		linksHold(t, to)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:"]+)(?:#[^)]*)?\)`)
	mention = regexp.MustCompile(`\bdocs/[a-z-]+\.(?:md|yaml)|\bADR \d+`)
)

func linksHold(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		isGuarantees := strings.HasSuffix(path, "docs/guarantees.md") // the failure lab shows them
		if err != nil || isGuarantees || filepath.Ext(path) != ".md" && filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		named := mention.FindAllString(string(text), -1)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if below, err := filepath.Rel(folder, filepath.Join(filepath.Dir(path), found[1])); filepath.Ext(path) == ".md" && err == nil {
				named = append(named, below)
			}
		}
		for _, name := range named {
			if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
				t.Errorf("%s names %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNewApplicationsThatAreNone(t *testing.T) {
	for _, test := range []struct {
		app    newApp
		extras []string
		named  string // in the error
	}{
		{newApp{"", "order"}, nil, "MODULE is"},
		{newApp{"shop", "order"}, nil, "MODULE is"},
		{newApp{"example.org/7", "order"}, nil, "MODULE is"},
		{newApp{"example.org/order", "order"}, nil, "both called order"},
		{newApp{"example.org/shop", "Purchase Order"}, nil, "AGGREGATE is"},
		{newApp{"example.org/shop", "thread"}, nil, "thread"},
		{newApp{"example.org/shop", "message"}, nil, "message is taken"},
		{newApp{"example.org/shop", "ident"}, nil, "domain/ident exists"},
		{newApp{"example.org/shop", "order"}, []string{"access", "tasks"}, `"tasks" is about chat`},
		{newApp{"example.org/shop", "order"}, []string{"access,limits"}, "with spaces between them"},
	} {
		to := filepath.Join(t.TempDir(), "shop")
		if err := test.app.run(t.Context(), "../../..", to, test.extras); err == nil || !strings.Contains(err.Error(), test.named) {
			t.Errorf("%+v: %v, want an error with %q", test, err, test.named)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%+v: a folder is made", test)
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
