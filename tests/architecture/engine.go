package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Engine lists the folders, with their sub-folders, that handle aggregates, events, positions and rows in general, and
// know nothing of this application.
var Engine = []string{"es"}

// foreign matches words of the application in identifiers and texts of the engine.
var foreign = regexp.MustCompile(`(?i:thread|message|chat)|\b(?i:room|member)s?\b|\b(?:room|member)s?[A-Z]|[a-z](?:Room|Member)s?`)

// harmless matches uses of those words that other libraries or Go require.
var harmless = regexp.MustCompile(`AttributeValueMember(S|N|B|BOOL)|example\.com/threads/es|RawMessage|^"?[mM]essage"?$`)

// testCode matches packages that only tests import.
var testCode = regexp.MustCompile(`^es/(estest|testenv|internal)/|dynamodbtest/|projectiontest/`)

// ForeignWords returns one line for every identifier and text in the engine's files below root, without test files,
// that contains a word of the application.
func ForeignWords(root string) ([]string, error) {
	var found []string
	for _, part := range Engine {
		err := fs.WalkDir(os.DirFS(root), part, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || testCode.MatchString(path) {
				return err
			}
			words, err := foreignWordsOf(filepath.Join(root, path))
			for _, word := range words {
				found = append(found, path+": "+word)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func foreignWordsOf(path string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return nil, err
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		text := ""
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			text = node.Name
		case *ast.BasicLit:
			text = node.Value
		}
		if foreign.MatchString(harmless.ReplaceAllString(text, "")) {
			found = append(found, fmt.Sprintf("line %d: %s", files.Position(node.Pos()).Line, text))
		}
		return true
	})
	return found, nil
}
