package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// withoutUnused formats Go code and removes the imports that it does not use. Those of the standard library and of this
// project have the name that their path ends with.
func withoutUnused(code []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", code, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, is := node.(*ast.SelectorExpr); is {
			if of, named := selector.X.(*ast.Ident); named {
				used[of.Name] = true
			}
		}
		return true
	})
	lines := bytes.Split(code, []byte("\n"))
	unused := map[int]bool{}
	for _, spec := range file.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		name := path.Base(from)
		if strings.Trim(name, "0123456789") == "v" { // a version: math/rand/v2
			name = path.Base(path.Dir(from))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		line := files.Position(spec.Pos()).Line - 1
		if name != "_" && !used[name] && isOursOrStandard(from) {
			unused[line] = true
		}
	}
	var rest [][]byte
	for n, line := range lines {
		if !unused[n] {
			rest = append(rest, line)
		}
	}
	return format.Source(bytes.Join(rest, []byte("\n")))
}

func isOursOrStandard(from string) bool {
	first, _, _ := strings.Cut(from, "/")
	return first == "example.com" || !strings.Contains(first, ".")
}

var importOfTests = regexp.MustCompile(`"example\.com/threads/tests/([a-z]+)`)

// removeUnused removes the folders of tests that only help other tests, where none of those is left.
func removeUnused(to string) error {
	for {
		used, err := usedTests(to)
		if err != nil {
			return err
		}
		folders, err := filepath.Glob(filepath.Join(to, "tests/*"))
		if err != nil {
			return err
		}
		unused := slices.DeleteFunc(folders, func(folder string) bool {
			own, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
			return err != nil || len(own) > 0 || used[filepath.Base(folder)]
		})
		if len(unused) == 0 {
			return nil
		}
		for _, folder := range unused { // and then those that only these have used
			if err := os.RemoveAll(folder); err != nil {
				return err
			}
		}
	}
}

// usedTests returns the names of the folders of tests that a file elsewhere imports.
func usedTests(to string) (used map[string]bool, err error) {
	used = map[string]bool{}
	err = filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range importOfTests.FindAllSubmatch(code, -1) {
			if name := string(found[1]); !strings.HasPrefix(path, filepath.Join(to, "tests", name)+string(filepath.Separator)) {
				used[name] = true
			}
		}
		return err
	})
	return used, err
}
