// Package sealed finds in a package's source what the language cannot list: the types of a closed set, and declarations
// made by certain calls. Tests compare tables with it, so that a forgotten entry is reported by name.
package sealed

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Types returns the sorted names of the types with the method, such as the unexported method of a sealed interface.
func Types(t testing.TB, pkg, method string) []string {
	t.Helper()
	found := map[string]bool{}
	inspect(t, pkg, func(node ast.Node) {
		if function, is := node.(*ast.FuncDecl); is && function.Recv != nil && function.Name.Name == method {
			receiver := function.Recv.List[0].Type
			if pointer, is := receiver.(*ast.StarExpr); is {
				receiver = pointer.X
			}
			if name, is := receiver.(*ast.Ident); is {
				found[name.Name] = true
			}
		}
	})
	if len(found) == 0 {
		t.Fatalf("no type of %s has the method %s", pkg, method)
	}
	return slices.Sorted(maps.Keys(found))
}

// Calls returns the sorted first arguments (string literals) of all calls of the named functions of another package.
func Calls(t testing.TB, pkg, other string, functions ...string) []string {
	t.Helper()
	var found []string
	inspect(t, pkg, func(node ast.Node) {
		call, is := node.(*ast.CallExpr)
		if !is || len(call.Args) == 0 {
			return
		}
		function, is := call.Fun.(*ast.SelectorExpr)
		if !is || !slices.Contains(functions, function.Sel.Name) {
			return
		}
		from, is := function.X.(*ast.Ident)
		literal, isLiteral := call.Args[0].(*ast.BasicLit)
		if is && isLiteral && from.Name == other {
			found = append(found, strings.Trim(literal.Value, `"`))
		}
	})
	if len(found) == 0 {
		t.Fatalf("%s calls none of %s's %v", pkg, other, functions)
	}
	return slices.Sorted(slices.Values(found))
}

// Constants returns the sorted values of a package's constants of a string type.
func Constants(t testing.TB, pkg, of string) []string {
	t.Helper()
	var found []string
	inspect(t, pkg, func(node ast.Node) {
		declared, is := node.(*ast.ValueSpec)
		if !is {
			return
		}
		if kind, is := declared.Type.(*ast.Ident); !is || kind.Name != of {
			return
		}
		for _, value := range declared.Values {
			if literal, is := value.(*ast.BasicLit); is {
				found = append(found, strings.Trim(literal.Value, `"`))
			}
		}
	})
	if len(found) == 0 {
		t.Fatalf("%s has no constants of type %s", pkg, of)
	}
	return slices.Sorted(slices.Values(found))
}

// Name returns the name of a value's type, without its package.
func Name(value any) string { return reflect.TypeOf(value).Name() }

// Check fails the test for every name that is missing in got or that should not be there. what describes the names.
func Check(t testing.TB, what string, want, got []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is there, but is not wanted", what, name)
		}
	}
}

// inspect visits the source of a package without its tests.
func inspect(t testing.TB, pkg string, visit func(ast.Node)) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("find package %s: %v", pkg, err)
	}
	folder := strings.TrimSpace(string(output))
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder:
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if node != nil {
				visit(node)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
