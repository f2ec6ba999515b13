package tutorial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

const root = "../../.."

// mostFiles limits the files that must be edited for one command with one event and one field.
const mostFiles = 9

var (
	blocks = regexp.MustCompile("(?s)```diff\n(.*?\n)```")
	target = regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`)
	tests  = regexp.MustCompile(`_test\.go$|^domain/thread/threadtest/`)
)

// The blocks of the tutorial, applied to a copy of the tree, must make a system that builds and whose tests pass.
func TestTheTutorialIsTrue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	patch := ""
	for _, block := range blocks.FindAllStringSubmatch(string(page), -1) {
		patch += block[1]
	}
	folder := treecopy.Of(t, root)
	patch = strings.ReplaceAll(patch, "NNNNN", nextMigration(t, folder))
	var files []string
	for _, file := range target.FindAllStringSubmatch(patch, -1) {
		if !tests.MatchString(file[1]) {
			files = append(files, file[1])
		}
	}
	slices.Sort(files)
	if files = slices.Compact(files); len(files) < 8 || len(files) > mostFiles {
		t.Errorf("a command touches %d files, more than %d: %q", len(files), mostFiles, files)
	}

	path := filepath.Join(folder, "tutorial.patch")
	if err := os.WriteFile(path, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	treecopy.Do(t, folder, "git", "apply", path)
	treecopy.Do(t, folder, "go", "generate", "./interfaceadaptor/graphql")
	treecopy.Do(t, folder, "env", "UPDATE_GOLDEN=1", "go", "test", "-run", "TestEventsOfToday", "./interfaceadaptor/eventjson")
	treecopy.Do(t, folder, "go", "vet", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./cmd/...", "./tests/...")
	treecopy.Do(t, folder, "go", "test", "./domain/thread", "./usecase/chat", "./interfaceadaptor/eventjson", "./tests/architecture")
	// Run the other tests that need no services.
	treecopy.Do(t, folder, "go", "test", "-run", "EveryCommandHas|Rejections|Content|Document", "./interfaceadaptor/rest")
	treecopy.Do(t, folder, "go", "test", "-run", "TestRowsAreWhatTheFoldSays/SQLite", "./interfaceadaptor/readmodel/chatrows")
	treecopy.Do(t, folder, "go", "test", "-run", "Story", "./cmd/standalone")
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
