// extra:chat

package browser

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Without the failure lab, the generated types lack what the lab describes: the page's source must do without it.
func TestThePageNeedsNoLab(t *testing.T) {
	t.Parallel()
	install(t)
	to := t.TempDir()
	sources := filepath.Dir(packages)
	err := filepath.WalkDir(sources, func(path string, entry fs.DirEntry, err error) error {
		below, _ := filepath.Rel(sources, path)
		switch {
		case err != nil:
			return err
		case path == packages:
			if err := os.Symlink(absolute(t, path), filepath.Join(to, below)); err != nil {
				return err
			}
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		}
		text, err := os.ReadFile(path)
		if entry.Name() == "requests.ts" {
			rest := ofTheLab.ReplaceAll(text, nil)
			if len(rest) == len(text) {
				t.Error("the types have nothing of the lab")
			}
			text = rest
		}
		return errors.Join(err, os.WriteFile(filepath.Join(to, below), text, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), filepath.Join(packages, ".bin", "tsc"), "-p", to).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// ofTheLab are the types of the lab's routes, and those routes.
var ofTheLab = regexp.MustCompile(`(?m)^(  '\w+ /lab/.*|export type (Faults|NewRows|Seed) =.*)\n`)

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
