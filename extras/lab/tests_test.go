package lab

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page names the tests of each promise: they must exist.
func TestThePageNamesItsTests(t *testing.T) {
	t.Chdir("../..")
	script, err := os.ReadFile("extras/lab/src/lab.tsx")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(script), -1)
	if len(names) < 5 {
		t.Fatalf("the lab names the tests %q, want some for each promise", names)
	}
	var tests strings.Builder
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "data") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			tests.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "\nfunc "+name+"(") {
			t.Errorf("there is no test %s", name)
		}
	}
}
