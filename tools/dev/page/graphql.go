package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// scalars are GraphQL's scalars as JSON types. Other scalars are strings; JSON is anything.
var scalars = map[string]kinds{"Int": {"integer"}, "Float": {"number"}, "Boolean": {"boolean"}, "JSON": nil}

func loadSchema(patterns ...string) (*ast.Schema, error) {
	var paths []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	var sources []*ast.Source
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, &ast.Source{Name: path, Input: string(text)})
	}
	return gqlparser.LoadSchema(sources...)
}

// queries are what the page asks, in comments of its source.
type queries struct{ ast.QueryDocument }

var comment = regexp.MustCompile(`(?s)/\* GraphQL:\n(.*?)\*/`)

func readQueries(folder string) (found queries, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case entry.Name() == "node_modules":
			return fs.SkipDir
		case extension != ".ts" && extension != ".tsx":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, each := range comment.FindAllSubmatch(text, -1) {
			part, err := parser.ParseQuery(&ast.Source{Name: path, Input: string(each[1])})
			if err != nil {
				return err
			}
			found.Operations, found.Fragments = append(found.Operations, part.Operations...), append(found.Fragments, part.Fragments...)
		}
		return nil
	})
	return found, err
}

// typescript returns the documents with the types of variables and answers.
func (q queries) typescript(schema *ast.Schema, known catalog) (string, error) {
	if errs := validator.ValidateWithRules(schema, &q.QueryDocument, nil); len(errs) > 0 {
		return "", fmt.Errorf("the page's queries: %w", errs)
	}
	var out strings.Builder
	out.WriteString("\n/** A document, with the types of its variables and of its answer. */\nexport interface Query<Variables, Answer> {\n" +
		"  name: string;\n  text: string;\n  types?: (variables: Variables) => Answer; // never there\n}\n")
	for _, fragment := range q.Fragments {
		s, err := shapeOf(schema, fragment.SelectionSet)
		if err == nil {
			err = known.define(fragment.Name, s)
		}
		if err != nil {
			return "", fmt.Errorf("the fragment %s: %w", fragment.Name, err)
		}
		fmt.Fprintf(&out, "\nexport type %s = %s;\n", fragment.Name, s.typescript())
	}
	for _, operation := range q.Operations {
		answer, err := shapeOf(schema, operation.SelectionSet)
		if err != nil {
			return "", fmt.Errorf("the query %s: %w", operation.Name, err)
		}
		known.Answers[operation.Name] = answer
		variables := &shape{Type: kinds{"object"}, Properties: map[string]*shape{}}
		for _, variable := range operation.VariableDefinitions {
			variables.Properties[variable.Variable] = valueOf(schema, variable.Type, nil)
			if variable.Type.NonNull {
				variables.Required = append(variables.Required, variable.Variable)
			}
		}
		write(&out, operation, q.Fragments, variables.typescript(), answer.typescript())
	}
	return out.String(), nil
}

func write(out *strings.Builder, operation *ast.OperationDefinition, all ast.FragmentDefinitionList, variables, answer string) {
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithIndent("")).FormatQueryDocument(&ast.QueryDocument{
		Operations: ast.OperationList{operation}, Fragments: fragmentsOf(operation.SelectionSet, all),
	})
	fmt.Fprintf(out, "\nexport const %s: Query<%s, %s> = {\n  name: '%[1]s',\n  text: '%[4]s',\n};\n", operation.Name, variables, answer, strings.Join(strings.Fields(text.String()), " "))
}

// fragmentsOf returns the fragments that a selection needs, each once.
func fragmentsOf(set ast.SelectionSet, all ast.FragmentDefinitionList) (used ast.FragmentDefinitionList) {
	for _, each := range set {
		var more ast.FragmentDefinitionList
		switch each := each.(type) {
		case *ast.Field:
			more = fragmentsOf(each.SelectionSet, all)
		case *ast.FragmentSpread:
			found := all.ForName(each.Name)
			more = append(fragmentsOf(found.SelectionSet, all), found)
		}
		for _, fragment := range more {
			if !slices.Contains(used, fragment) {
				used = append(used, fragment)
			}
		}
	}
	return used
}

// shapeOf returns the shape of what is selected: fields, or one fragment.
func shapeOf(schema *ast.Schema, set ast.SelectionSet) (*shape, error) {
	if spread, is := set[0].(*ast.FragmentSpread); is && len(set) == 1 {
		return &shape{Ref: ref(spread.Name)}, nil
	}
	s := &shape{Type: kinds{"object"}, Properties: map[string]*shape{}}
	for _, each := range set {
		field, is := each.(*ast.Field)
		if !is {
			return nil, errors.New("a fragment must be alone in its braces")
		}
		var selected *shape
		if len(field.SelectionSet) > 0 {
			var err error
			if selected, err = shapeOf(schema, field.SelectionSet); err != nil {
				return nil, err
			}
		}
		s.Properties[field.Alias], s.Required = valueOf(schema, field.Definition.Type, selected), append(s.Required, field.Alias)
	}
	return s, nil
}

// valueOf returns the shape of a value; selected is that of an object.
func valueOf(schema *ast.Schema, t *ast.Type, selected *shape) *shape {
	value := &shape{Type: kinds{"string"}}
	kind, isScalar := scalars[t.NamedType]
	switch {
	case t.Elem != nil:
		value = &shape{Type: kinds{"array"}, Items: valueOf(schema, t.Elem, selected)}
	case selected != nil:
		value = selected
	case isScalar:
		value.Type = kind
	case schema.Types[t.NamedType].Kind == ast.Enum:
		for _, each := range schema.Types[t.NamedType].EnumValues {
			value.Enum = append(value.Enum, each.Name)
		}
	}
	if t.NonNull {
		return value
	}
	return &shape{AnyOf: []*shape{value, {Type: kinds{"null"}}}}
}
