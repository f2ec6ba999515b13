// Command graphqlgen generates the executable schema with gqlgen's configuration. A plugin of gqlgen also generates the
// tables of fields with which package interfaceadaptor/graphql/plain writes fields without resolvers. See
// https://gqlgen.com/reference/plugins/.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "graphqlgen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected one argument, the file with gqlgen's configuration, and not %q", args)
	}
	settings, err := config.LoadConfig(args[0])
	if err != nil {
		return err
	}
	return api.Generate(settings, api.AddPlugin(plain{}))
}

// plain is the plugin.
type plain struct{}

//go:embed plain.gotpl
var text string

// Name implements [plugin.Plugin].
func (plain) Name() string { return "plain" }

// GenerateCode implements [plugin.CodeGenerator].
func (plain) GenerateCode(data *codegen.Data) error {
	var types []objectType
	for _, object := range data.Objects {
		if !object.Root && !strings.HasPrefix(object.Name, "__") {
			types = append(types, objectType{object, slices.DeleteFunc(slices.Clone(object.Fields), needsResolver)})
		}
	}
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(filepath.Dir(data.Config.Exec.Filename), "plain.go"),
		Template:        text,
		Data:            types,
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
		Funcs:           map[string]any{"isObject": isObject, "isPointer": isPointer},
	})
}

// objectType is an object type with its fields that need no resolver.
type objectType struct {
	*codegen.Object
	Plain []*codegen.Field
}

// needsResolver reports whether a field is not a plain struct field, or has a form that the template does not know.
// gqlgen can resolve any field.
func needsResolver(field *codegen.Field) bool {
	kind := field.TypeReference
	switch {
	case field.IsResolver, !field.IsVariable(), len(field.Args) > 0, field.HasDirectives():
		return true
	case isPointer(kind) && kind.GQL.NonNull:
		return true // nil would be an error
	case kind.GQL.Elem != nil:
		return !kind.GQL.NonNull || !kind.GQL.Elem.NonNull || !isObject(kind) || kind.Elem().IsNilable()
	case isObject(kind):
		return !kind.IsStruct() && !isPointer(kind)
	default:
		return kind.IsContext || kind.HasEnumValues() || (kind.Marshaler == nil && !kind.IsMarshaler) || (kind.IsMarshaler && kind.IsNilable())
	}
}

func isObject(kind *config.TypeReference) bool { return kind.Definition.Kind == ast.Object }

// isPointer reports whether a value can be nil, which is null.
func isPointer(kind *config.TypeReference) bool { return kind.IsPtr() }
