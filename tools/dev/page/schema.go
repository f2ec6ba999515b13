package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// scalars are GraphQL's scalars in TypeScript. Other scalars are strings; JSON is unknown.
var scalars = map[string]string{"Int": "number", "Float": "number", "Boolean": "boolean", "JSON": "unknown"}

// typesOf returns the schema in these files as TypeScript types.
func typesOf(patterns ...string) (string, error) {
	var paths []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		paths = append(paths, found...)
	}
	var sources []*ast.Source
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sources = append(sources, &ast.Source{Name: path, Input: string(text)})
	}
	schema, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		return "", fmt.Errorf("the schema %q: %w", paths, err)
	}
	var names []string
	for name, definition := range schema.Types {
		if !definition.BuiltIn && !strings.HasPrefix(name, "__") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out strings.Builder
	out.WriteString("// Code generated from the GraphQL schema by go generate. DO NOT EDIT.\n")
	for _, name := range names {
		declare(&out, schema.Types[name])
	}
	return out.String(), nil
}

func declare(out *strings.Builder, definition *ast.Definition) {
	switch definition.Kind {
	case ast.Scalar:
		kind, known := scalars[definition.Name]
		if !known {
			kind = "string"
		}
		fmt.Fprintf(out, "\nexport type %s = %s;\n", definition.Name, kind)
	case ast.Enum:
		var values []string
		for _, value := range definition.EnumValues {
			values = append(values, "'"+value.Name+"'")
		}
		fmt.Fprintf(out, "\nexport type %s = %s;\n", definition.Name, strings.Join(values, " | "))
	case ast.Union:
		fmt.Fprintf(out, "\nexport type %s = %s;\n", definition.Name, strings.Join(definition.Types, " | "))
	case ast.Object, ast.Interface, ast.InputObject:
		fmt.Fprintf(out, "\nexport interface %s {\n", definition.Name)
		for _, field := range definition.Fields {
			if !strings.HasPrefix(field.Name, "__") {
				fmt.Fprintf(out, "  %s: %s;\n", field.Name, typeOf(field.Type))
			}
		}
		out.WriteString("}\n")
	}
}

func typeOf(t *ast.Type) string {
	var name string
	if t.Elem != nil {
		name = "Array<" + typeOf(t.Elem) + ">"
	} else if scalar, known := scalars[t.NamedType]; known {
		name = scalar
	} else if t.NamedType == "ID" || t.NamedType == "String" {
		name = "string"
	} else {
		name = t.NamedType
	}
	if !t.NonNull {
		name += " | null"
	}
	return name
}
