package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
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
			lines[line] = nil // gofmt closes the gap
		}
	}
	return format.Source(bytes.Join(lines, []byte("\n")))
}

func isOursOrStandard(from string) bool {
	first, _, _ := strings.Cut(from, "/")
	return first == "example.com" || !strings.Contains(first, ".")
}
