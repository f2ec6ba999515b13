package lab

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/threads/infrastructure/httpserver"
)

var testName = regexp.MustCompile(`^Test\w{1,100}$`)

// showTest serves the source of a test by its name. It comes from the working directory, because `make run` starts the
// program in the repository.
func showTest(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	path, source, found := findTest(name)
	if !found {
		httpserver.WriteProblem(w, http.StatusNotFound, "path_not_found",
			fmt.Sprintf("there is no test %.100q below the working directory; start the program in the repository", name))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintf(w, "// %s\n%s", path, source)
}

// findTest returns the file of a test, and its function with the comment above it.
func findTest(name string) (path string, source []byte, found bool) {
	if !testName.MatchString(name) {
		return "", nil, false
	}
	start := []byte("\nfunc " + name + "(")
	_ = filepath.WalkDir(".", func(each string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir // a folder that can't be read has no tests
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "data"):
			return fs.SkipDir
		case !strings.HasSuffix(each, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(each)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		at := bytes.Index(text, start)
		if at < 0 {
			return nil
		}
		path, found = filepath.ToSlash(each), true
		comment := bytes.LastIndex(text[:at+1], []byte("\n\n"))
		source = text[comment+2:]
		if end := bytes.Index(source, []byte("\n}\n")); end >= 0 {
			source = source[:end+3]
		}
		return fs.SkipAll
	})
	return path, source, found
}
