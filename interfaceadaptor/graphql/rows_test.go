package graphql_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/threads/interfaceadaptor/graphql/generated"
)

// hidden are the columns that no answer shows, of all rows or of one type.
var hidden = []string{
	"tenant_code", // it is the viewer's
	// extra:chat {
	"created_ip", "updated_ip", "request_id", "source", // for operators
	"Account.created_by", "Account.updated_by", // they are the account
	"Thread.deleted", "Member.removed", "Message.deleted", // queries leave out such rows
	"Member.joined_seq", "Message.seq_nr", // the order of lists
	// extra:chat }
}

// Every column of a row (usecase/query) must be a field of its type in the schema, whose name is the column's.
func TestEveryColumnIsInTheSchema(t *testing.T) {
	schema := generated.Schema()
	var unused, rows = slices.Clone(hidden), 0
	for name, columns := range rowsOf(t, "../../usecase/query") {
		if !slices.Contains(columns, "tenant_code") {
			continue // it is a part of rows
		}
		rows++
		if schema.Types[name] == nil {
			t.Errorf("the schema has no type %s for the row query.%s", name, name)
			continue
		}
		for _, column := range columns {
			words := strings.Split(column, "_")
			for i, word := range words[1:] {
				words[i+1] = strings.ToUpper(word[:1]) + word[1:]
			}
			field := strings.Join(words, "")
			isHidden := false
			for _, exception := range []string{column, name + "." + column} {
				isHidden = isHidden || slices.Contains(hidden, exception)
				unused = slices.DeleteFunc(unused, func(left string) bool { return left == exception })
			}
			if shown := schema.Types[name].Fields.ForName(field) != nil; !shown && !isHidden {
				t.Errorf("the row query.%s has %s, but the schema's %s has no field %s: add it and run make generate, or name it in the list hidden of this test", name, column, name, field)
			} else if shown && isHidden {
				t.Errorf("%s.%s is in the schema: remove it from the list hidden of this test", name, field)
			}
		}
	}
	if rows == 0 || len(unused) > 0 {
		t.Errorf("%d types of rows; the list hidden has %q, which no row has", rows, unused)
	}
}

// rowsOf returns the columns of each struct of a package, with those of the structs that it embeds.
func rowsOf(t *testing.T, folder string) map[string][]string {
	t.Helper()
	structs := map[string]*ast.StructType{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if declared, is := node.(*ast.TypeSpec); is {
				if fields, is := declared.Type.(*ast.StructType); is {
					structs[declared.Name.Name] = fields
				}
			}
			return true
		})
	}
	var columnsOf func(*ast.StructType) []string
	columnsOf = func(of *ast.StructType) (columns []string) {
		for _, field := range of.Fields.List {
			if embedded, is := field.Type.(*ast.Ident); is && len(field.Names) == 0 && structs[embedded.Name] != nil {
				columns = append(columns, columnsOf(structs[embedded.Name])...)
			}
			if field.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			if column := reflect.StructTag(tag).Get("db"); column != "" {
				columns = append(columns, column)
			}
		}
		return columns
	}
	rows := map[string][]string{}
	for name, fields := range structs {
		rows[name] = columnsOf(fields)
	}
	return rows
}
