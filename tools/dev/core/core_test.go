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

// Each README says how to leave something out. No extra that stays may need it.
func TestTheReadmesLeaveOutWhatTheySay(t *testing.T) {
	const root = "../../.."
	readmes, err := filepath.Glob(root + "/extras/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	without := regexp.MustCompile(`make core DIR=\S+ WITHOUT=("[a-z ]+"|[a-z]+)`)
	tried := 0
	for _, readme := range append(readmes, root+"/README.md") {
		text, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range without.FindAllStringSubmatch(string(text), -1) {
			leftOut := strings.Fields(strings.Trim(command[1], `"`))
			_, extras, _ := strings.Cut(treecopy.Do(t, root, "make", "-n", "core", "DIR=copy", "WITHOUT="+strings.Join(leftOut, " ")), `"copy" `)
			kept, err := withNeeded(root, strings.Fields(extras))
			if err != nil {
				t.Fatal(err)
			}
			for _, extra := range leftOut {
				if err := known(root, []string{extra}, nil); err != nil || slices.Contains(kept, extra) {
					t.Errorf("%s: after %q, %s stays: %v", readme, command[0], extra, err)
				}
			}
			tried++
			if len(kept) < 8 {
				t.Errorf("%s: only %v stay", readme, kept)
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d commands were found", tried)
	}
}

// A new application must be a good start: without a word about chat, it builds, and its README is true. With
// RELEASE_CHECK its tests run, too, and it gets another aggregate and another extra.
func TestANewApplicationHasNothingOfChat(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds everything")
	}
	for name, extras := range map[string][]string{"alone": nil, "with extras": {"operate", "page", "publishing", "tenants"}} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "shop")
			if err := (newApp{module: "example.org/my-Shop", aggregate: "order"}).run(t.Context(), "../../..", to, extras); err != nil {
				t.Fatal(err)
			}
			expectNoChat(t, to)
			all := os.Getenv("RELEASE_CHECK") != "" // it takes minutes
			if extras != nil && !all {
				return
			}
			treecopy.WithoutServices(t)
			treecopy.Do(t, to, "go", "vet", "./...")
			tryReadme(t, to)
			if !all {
				return
			}
			treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./interfaceadaptor/...", "./cmd/standalone", "./tests/architecture")
			if slices.Contains(extras, "page") {
				treecopy.Do(t, filepath.Join(to, "tools/dev"), "go", "test", "-count=1", "./browser") // in Chromium
			}
			mergeMore(t, to, append(slices.Clone(extras), "archive"))
			treecopy.Do(t, to, "make", "new-aggregate", "NAME=invoice", "PROCESS=yes")
			treecopy.Do(t, to, "go", "test", "-short", "./domain/...", "./interfaceadaptor/...", "./usecase/...", "./cmd/standalone", "./tests/architecture")
		})
	}
}

func expectNoChat(t *testing.T, to string) {
	t.Helper()
	if left := treecopy.Do(t, to, "sh", "-c", "git grep --cached -i -n -E 'thread|chat' -- ':!LICENSE' || true"); left != "" {
		t.Errorf("left of chat:\n%s", left)
	}
	if left := treecopy.Do(t, to, "sh", "-c", "git grep --cached -i -n -w -E 'messages|(an?|the|first|last|send|write) message' -- extras/page || true"); left != "" {
		t.Errorf("left of chat on the page:\n%s", left)
	}
	if unformatted := treecopy.Do(t, to, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
}

// shell are the blocks of commands in a README.
var shell = regexp.MustCompile("(?s)```sh\n(.*?)```")

func blockWith(t *testing.T, to, text string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(to, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shell.FindAllStringSubmatch(string(readme), -1) {
		if strings.Contains(block[1], text) {
			return block[1]
		}
	}
	t.Fatalf("no commands of the README have %s", text)
	return ""
}

// tryReadme runs the commands that a new application's README begins with.
func tryReadme(t *testing.T, to string) {
	t.Helper()
	treecopy.Do(t, to, "go", "build", "-o", ".", "./cmd/standalone")
	for _, variable := range []string{"WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR", "WEB_ADDR"} {
		t.Setenv(variable, treecopy.FreeAddress(t))
	}
	commands := strings.NewReplacer("localhost:28080", "$WRITE_API_ADDR", "localhost:28082", "$READ_API_ADDR").Replace(blockWith(t, to, "/orders/open"))
	said := treecopy.Do(t, to, "bash", "-euc", `
		./standalone >standalone.log 2>&1 &
		trap 'kill $! && wait $!' EXIT
		until curl -sf $READ_API_ADDR/health/ready >ready; do sleep 0.1; done
	`+commands)
	if !strings.Contains(said, `"getOrder":{"name":"first","quantity":5,"version":1}`) {
		t.Errorf("the README's commands say %s", said)
	}
	treecopy.Do(t, to, "rm", "-r", "standalone", "standalone.log", "ready", "data")
}

// mergeMore adds an extra as the README of a new application says, whose first commit is the copy as it was made.
func mergeMore(t *testing.T, to string, extras []string) {
	t.Helper()
	treecopy.Do(t, to, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "The copy")
	treecopy.Do(t, to, "git", "branch", "-M", "main")
	more := filepath.Join(t.TempDir(), "more")
	if err := (newApp{module: "example.org/my-Shop", aggregate: "order"}).run(t.Context(), "../../..", more, extras); err != nil {
		t.Fatal(err)
	}
	treecopy.Do(t, to, "git", "config", "user.name", "a")
	treecopy.Do(t, to, "git", "config", "user.email", "a@example.org")
	treecopy.Do(t, to, "bash", "-euc", strings.ReplaceAll(blockWith(t, to, "git merge"), "../more", more))
	treecopy.Do(t, to, "go", "build", "./...")
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
	mention = regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.(?:md|yaml)|\bADR \d+`)
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
		{newApp{"example.org/map", "order"}, nil, "map is taken"},
		{newApp{"example.org/query", "order"}, nil, "query is taken"},
		{newApp{"example.org/time", "order"}, nil, "time is taken"},
		{newApp{"example.org/shop", "internal"}, nil, "internal is taken"},
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
