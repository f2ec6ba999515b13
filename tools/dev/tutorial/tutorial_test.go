package tutorial_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

const root = "../../.."

// lesson is a page whose blocks are a patch.
type lesson struct {
	page      string
	mostFiles int // without tests, documents and generated code
	// tests are those that a reader runs, beside the ones of the packages that every lesson changes.
	tests [][]string
}

var lessons = []lesson{
	{"1-a-field.md", 8, [][]string{{"-run", "Documented", "./extras/publishing"}, {"-run", "Story", "./cmd/standalone"}}},
	{"2-a-command.md", 9, [][]string{{"-run", "Story", "./cmd/standalone"}}},
}

var (
	blocks = regexp.MustCompile("(?s)```diff\n(.*?\n)```")
	target = regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`)
	tests  = regexp.MustCompile(`_test\.go$|^domain/thread/threadtest/|^docs/`)
)

// The blocks of a lesson, applied to a copy of the tree, must make a system that builds and whose tests pass.
func TestTheLessonsAreTrue(t *testing.T) {
	for _, l := range lessons {
		t.Run(l.page, func(t *testing.T) {
			if os.Getenv("RELEASE_CHECK") == "" && l.page != "2-a-command.md" {
				t.Skip("left out: it takes minutes; make release-check runs it")
			}
			folder := treecopy.Of(t, root)
			changes := changesOf(t, l.page, folder)
			var files []string
			for _, change := range changes {
				if path := target.FindStringSubmatch(change)[1]; !tests.MatchString(path) {
					files = append(files, path)
				}
			}
			slices.Sort(files)
			if files = slices.Compact(files); len(files) < 8 || len(files) > l.mostFiles {
				t.Errorf("it touches %d files, more than %d: %q", len(files), l.mostFiles, files)
			}
			if output, err := apply(t, folder, changes); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			treecopy.Do(t, folder, "go", "vet", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./cmd/...", "./tests/...")
			// The other tests that need no services.
			for _, test := range append([][]string{
				{"./domain/thread", "./usecase/chat", "./interfaceadaptor/eventjson", "./tests/architecture"},
				{"-run", "EveryCommandHas|Rejections|Content|Document", "./interfaceadaptor/rest"},
				{"-run", "TestRowsAreWhatTheFoldSays/SQLite", "./interfaceadaptor/readmodel/chatrows"},
			}, l.tests...) {
				treecopy.Do(t, folder, "go", append([]string{"test"}, test...)...)
			}
		})
	}
}

// Whoever forgets a place of the first lesson must hear of it: from the compiler, when code is generated, or from the
// named test.
func TestNoOmissionPassesInSilence(t *testing.T) {
	if os.Getenv("RELEASE_CHECK") == "" {
		t.Skip("left out: it takes minutes; make release-check runs it")
	}
	for _, omission := range []struct {
		place, line string   // a change with this line
		heard       []string // the arguments of go that must fail
	}{
		{"domain/thread/lifecycle.go", "Urgent: c.Urgent", []string{"test", "-run", "TestDecide", "./domain/thread"}},
		{"domain/thread/threadtest/history.go", "", []string{"test", "-run", "TestEverythingThatMayHappenGetsIntoTheRows", "./usecase/chat"}},
		{"interfaceadaptor/eventjson/threads.go", "", []string{"test", "-run", "TestEventsOfToday", "./interfaceadaptor/eventjson"}},
		{"interfaceadaptor/eventjson/golden_test.go", "", []string{"test", "-run", "TestEventsOfToday", "./interfaceadaptor/eventjson"}},
		{"docs/asyncapi.yaml", "", []string{"test", "-run", "TestPublishedEventsAreAsDocumented", "./extras/publishing"}},
		{"interfaceadaptor/rest/threads.go", "json:\"urgent", []string{"generate"}},
		{"interfaceadaptor/rest/threads.go", "Urgent: b.Urgent", []string{"test", "-run", "Story", "./cmd/standalone"}},
		{"interfaceadaptor/rest/openapi_test.go", "", []string{"test", "-run", "TestTheDocumentCoversTheContract", "./interfaceadaptor/rest"}},
		{"usecase/chat/threads.go", "", []string{"test", "-run", "TestEverythingThatMayHappenGetsIntoTheRows", "./usecase/chat"}},
		{"usecase/query/threads.go", "", []string{"generate"}},
		{"rdb-migration/readmodel/mysql", "", []string{"test", "-run", "TestEachMigrationIsThereForEachDatabase", "./tests/architecture"}},
		{"rdb-migration/readmodel/sqlite", "", []string{"test", "-run", "TestRowsAreWhatTheFoldSays/SQLite", "./interfaceadaptor/readmodel/chatrows"}},
		{"interfaceadaptor/graphql/schema.graphqls", "", []string{"test", "-run", "Story", "./cmd/standalone"}},
	} {
		t.Run(omission.place+" "+omission.line, func(t *testing.T) {
			folder := treecopy.Of(t, root)
			all := changesOf(t, lessons[0].page, folder)
			rest := slices.DeleteFunc(slices.Clone(all), func(change string) bool {
				return strings.HasPrefix(target.FindStringSubmatch(change)[1], omission.place) && strings.Contains(change, omission.line)
			})
			if len(rest) == len(all) {
				t.Fatal("the lesson has no such place")
			}
			if output, err := apply(t, folder, rest); (err != nil) != (omission.heard[0] == "generate") {
				t.Fatalf("generating code: %v: %s", err, output)
			} else if err != nil {
				return
			}
			heard := exec.CommandContext(t.Context(), "go", omission.heard...)
			heard.Dir = folder
			if output, err := heard.CombinedOutput(); err == nil {
				t.Errorf("go %q says nothing:\n%s", omission.heard, output)
			}
		})
	}
}

// changesOf returns the changes of a lesson: a patch for each hunk.
func changesOf(t *testing.T, page, folder string) (changes []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs/tutorial", page))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(content), "NNNNN", nextMigration(t, folder))
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		head, hunks, _ := strings.Cut(block[1], "@@")
		for _, hunk := range regexp.MustCompile(`(?m)^@@`).Split("@@"+hunks, -1)[1:] {
			changes = append(changes, head+"@@"+hunk)
		}
	}
	return changes
}

// apply changes the copy, and generates what the lesson says. The error is that of generating code.
func apply(t *testing.T, folder string, changes []string) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "change.patch")
	for _, change := range changes {
		if err := os.WriteFile(path, []byte(change), 0o600); err != nil {
			t.Fatal(err)
		}
		treecopy.Do(t, folder, "git", "apply", path)
	}
	generate := exec.CommandContext(t.Context(), "go", "generate", "./interfaceadaptor/graphql")
	generate.Dir = folder
	if output, err := generate.CombinedOutput(); err != nil {
		return output, err
	}
	golden := exec.CommandContext(t.Context(), "go", "test", "-run", "TestEventsOfToday", "./interfaceadaptor/eventjson")
	golden.Dir, golden.Env = folder, append(os.Environ(), "UPDATE_GOLDEN=1")
	_ = golden.Run() // it writes the missing files; the tests run again without it
	return nil, nil
}

// nextMigration returns the number of the next migration.
func nextMigration(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "rdb-migration/readmodel/mysql/*.sql"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	number := 0
	if _, err := fmt.Sscanf(filepath.Base(slices.Max(paths)), "%d_", &number); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%05d", number+1)
}
