package es_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostNames is how many exported names the library has at most, without methods, fields and the settings of adapters.
// A new name needs another one to go.
const mostNames = 200

var settingsOfAdapters = regexp.MustCompile(`^(database|dynamodb|dynamodbstreams|sqlstore) (Source)?Settings$`)

// kits are packages for tests and examples.
var kits = regexp.MustCompile(`internal|estest|testenv|projectiontest|dynamodbtest|archivetest|examples`)

func TestAPIIsSmall(t *testing.T) {
	names := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || kits.MatchString(path) {
			return err
		}
		files := token.NewFileSet()
		var parsed []*ast.File
		sources, _ := filepath.Glob(filepath.Join(path, "*.go"))
		for _, source := range sources {
			file, err := parser.ParseFile(files, source, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			if !strings.HasSuffix(source, "_test.go") {
				parsed = append(parsed, file)
			}
		}
		if len(parsed) == 0 {
			return nil
		}
		documented, err := doc.NewFromFiles(files, parsed, "example.com/threads/es/"+path)
		if err != nil {
			return err
		}
		tell := func(name, text string) {
			if !settingsOfAdapters.MatchString(path + " " + name) {
				names++
			}
			if text == "" {
				t.Errorf("%s: %s has no comment", path, name)
			}
		}
		if documented.Doc == "" {
			t.Errorf("%s has no comment of the package", path)
		}
		functions, values := documented.Funcs, append(documented.Consts, documented.Vars...)
		for _, kind := range documented.Types {
			tell(kind.Name, kind.Doc)
			functions, values = append(functions, kind.Funcs...), append(append(values, kind.Consts...), kind.Vars...)
			for _, method := range kind.Methods {
				if method.Doc == "" && method.Name != "Error" && method.Name != "String" && method.Name != "Unwrap" {
					t.Errorf("%s: %s.%s has no comment", path, kind.Name, method.Name)
				}
			}
		}
		for _, function := range functions {
			tell(function.Name, function.Doc)
		}
		for _, group := range values {
			for _, name := range group.Names {
				if ast.IsExported(name) {
					tell(name, group.Doc+comments(group.Decl, name))
				}
			}
		}
		return nil
	})
	if err != nil || names > mostNames {
		t.Errorf("there are %d exported names, more than %d; %v", names, mostNames, err)
	}
}

// comments returns those at a name in a group of constants or variables.
func comments(group *ast.GenDecl, name string) (text string) {
	for _, spec := range group.Specs {
		for _, found := range spec.(*ast.ValueSpec).Names {
			if found.Name == name {
				text += spec.(*ast.ValueSpec).Doc.Text() + spec.(*ast.ValueSpec).Comment.Text()
			}
		}
	}
	return text
}
