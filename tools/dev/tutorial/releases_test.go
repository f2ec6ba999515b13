package tutorial_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

// The lessons are a release: a field, a command with an event, and an aggregate type. Their programs must be able to
// replace those of the release before, without a pause: by the programs of this tree, or those of the commit FORMER.
func TestTheNextReleaseNeedsNoPause(t *testing.T) {
	if os.Getenv("UPGRADE_CHECK") == "" {
		t.Skip("left out: it takes minutes; make upgrade-check runs it")
	}
	binaries := t.TempDir()
	former, next := filepath.Join(binaries, "former"), filepath.Join(binaries, "next")
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if former := os.Getenv("FORMER"); former != "" {
		commit := strings.TrimSpace(treecopy.Do(t, root, "git", "rev-parse", "--verify", former+"^{commit}"))
		clone := t.TempDir()
		treecopy.Do(t, root, "git", "clone", "--quiet", "--shared", "--no-checkout", tree, clone)
		treecopy.Do(t, clone, "git", "checkout", "--quiet", "--detach", commit)
		tree = clone
	}
	build := func(tree, into string) {
		packages := []string{"./cmd/write-api", "./cmd/read-api", "./cmd/read-model-updater", "./cmd/lambda-updater", "./cmd/threadctl", "./rdb-migration/cmd/migrate"}
		treecopy.Do(t, tree, "go", slices.Concat([]string{"build", "-ldflags=-w", "-o", into + "/"}, packages)...)
	}
	build(tree, former)
	folder := treecopy.Of(t, root)
	for _, page := range []string{field, command} {
		_, changes := changesOf(t, page, folder)
		patch(t, folder, changes)
	}
	treecopy.Do(t, folder, "env", "UPDATE_GOLDEN=1", "go", "test", "-run=TestEventsOfToday", "./interfaceadaptor/eventjson")
	treecopy.Do(t, folder, "make", "new-aggregate", "NAME=order") // it also generates code
	build(folder, next)
	t.Setenv("FORMER_RELEASE", former)
	t.Setenv("NEXT_RELEASE", next)
	t.Log(treecopy.Do(t, root, "go", "test", "-count=1", "-v", "-run=TestTwoReleasesSideBySide", "./tests/e2e"))
}
