package kit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Released returns a file as it is in the branch main, here or where it is pushed, and whether it is there. If there is
// no such branch, it asks for the last commit; if there is no repository, every file counts as released that is there.
func Released(t testing.TB, path string) (content []byte, is bool) {
	t.Helper()
	git := func(arguments ...string) ([]byte, bool) {
		output, err := exec.CommandContext(t.Context(), "git", arguments...).Output()
		return output, err == nil
	}
	if _, repository := git("rev-parse", "--git-dir"); !repository {
		content, err := os.ReadFile(path)
		return content, err == nil
	}
	known := false
	for _, branch := range []string{"origin/main", "main", "HEAD"} {
		if _, there := git("rev-parse", "--verify", "--quiet", branch); !there || branch == "HEAD" && known {
			continue
		}
		known = true
		if content, is = git("show", branch+":./"+filepath.ToSlash(path)); is {
			return content, true
		}
	}
	return nil, false
}
