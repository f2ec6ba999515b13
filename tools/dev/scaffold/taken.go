package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/threads/tools/dev/internal/words"
)

// collision returns an error if the aggregate would bring a name that something else has already: in a file or a
// package of Go that gets more code, in the GraphQL schema, or among the tables.
func collision(root, name string, folders []string, registries []registry) error {
	named := words.Of(name)
	check := func(where string, has map[string]bool, added []string) error {
		for _, each := range added {
			if has[each] {
				return fmt.Errorf("the name %s is taken: %s has %s already", name, where, each)
			}
		}
		return nil
	}
	checkGo := func(path string, code any, added string) error {
		has, err := declared(filepath.Join(root, filepath.Dir(path)), path)
		if err == nil {
			err = identifiers(has, filepath.Join(root, path), code)
		}
		if err != nil {
			return err
		}
		return check(path, has, brought(named, added))
	}
	for _, folder := range folders {
		err := eachTemplate(folder, func(path, content string) error {
			if !strings.HasSuffix(path, ".go") {
				return nil
			}
			return checkGo(path, content, content)
		})
		if err != nil {
			return err
		}
	}
	for _, list := range registries {
		var added []string
		for _, each := range list.lines {
			if each.behind == imports {
				added = append(added, each.add[strings.LastIndex(each.add, "/")+1:])
			} else {
				added = append(added, each.add)
			}
		}
		if !strings.HasSuffix(list.path, ".go") {
			continue
		}
		if err := checkGo(list.path, nil, strings.Join(added, "\n")); err != nil {
			return err
		}
	}
	types, tables, err := typesAndTables(root)
	if err != nil {
		return err
	}
	return errors.Join(
		check("the GraphQL schema", types, []string{named.Replace("Gadget"), named.Replace("GadgetPriority")}),
		check("the database", tables, []string{named.Replace("gadgets")}),
	)
}

var (
	ofGadgets = regexp.MustCompile(`\w*[gG]adget\w*`)
	texts     = regexp.MustCompile("\"[^\"\n]*\"|`[^`]*`|//.*")
)

// brought returns the names that code about gadgets has in the words of an aggregate.
func brought(named *strings.Replacer, code string) (names []string) {
	for _, each := range ofGadgets.FindAllString(texts.ReplaceAllString(code, ""), -1) {
		names = append(names, named.Replace(each))
	}
	// Imports are texts, and have the name of their last part.
	return slices.Compact(slices.Sorted(slices.Values(append(names, named.Replace("gadget")))))
}

// identifiers adds all names in a file of Go, but for those about gadgets; nil code: the content of the file.
func identifiers(has map[string]bool, path string, code any) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, code, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if name, is := node.(*ast.Ident); is && !ofGadgets.MatchString(name.Name) {
			has[name.Name] = true
		}
		return true
	})
	return nil
}

// declared returns the names that the other files of a package declare: those of functions, methods, types and values.
func declared(folder, except string) (map[string]bool, error) {
	has := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if filepath.Base(path) == filepath.Base(except) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, each := range file.Decls {
			switch each := each.(type) {
			case *ast.FuncDecl:
				has[each.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range each.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						has[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							has[name.Name] = true
						}
					}
				}
			}
		}
	}
	return has, nil
}

var (
	schemaType = regexp.MustCompile(`(?m)^(?:type|enum|scalar|input|interface|union) (\w+)`)
	sqlTable   = regexp.MustCompile(`(?i)\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
)

// typesAndTables returns the types of the GraphQL schema, and the tables of all databases. A table can't have a
// reserved word of MySQL, MariaDB or SQLite either; these are in the plural.
func typesAndTables(root string) (types, tables map[string]bool, err error) {
	types, tables = map[string]bool{"Query": true, "Subscription": true, "Mutation": true, "String": true, "Int": true, "Float": true, "Boolean": true, "ID": true}, map[string]bool{}
	for _, reserved := range []string{"databases", "exists", "groups", "keys", "lines", "references", "rows", "schemas", "values"} {
		tables[reserved] = true
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "data", "node_modules"}, entry.Name()) {
			return filepath.SkipDir
		}
		pattern, into := schemaType, types
		switch filepath.Ext(path) {
		case ".graphqls":
		case ".sql":
			pattern, into = sqlTable, tables
		default:
			return nil
		}
		content, err := os.ReadFile(path)
		for _, found := range pattern.FindAllStringSubmatch(string(content), -1) {
			into[found[1]] = true
		}
		return err
	})
	return types, tables, err
}
