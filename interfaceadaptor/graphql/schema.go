package graphql

import (
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql/generated"
)

// viewerArgument names the viewer in every query.
const viewerArgument = "userAccountId"

// schemaFor returns the schema that is served. With tokens, the viewer's argument is optional.
func schemaFor(open bool) *ast.Schema {
	schema := *generated.NewExecutableSchema(generated.Config{}).Schema()
	if open {
		return &schema
	}
	schema.Types = maps.Clone(schema.Types)
	for _, root := range []**ast.Definition{&schema.Query, &schema.Subscription} {
		*root = withOptionalViewer(*root)
		schema.Types[(*root).Name] = *root
	}
	return &schema
}

// withOptionalViewer returns a changed copy, because all handlers share the generated schema.
func withOptionalViewer(root *ast.Definition) *ast.Definition {
	definition := *root
	definition.Fields = slices.Clone(definition.Fields)
	for i, original := range definition.Fields {
		field := *original
		field.Arguments = slices.Clone(field.Arguments)
		for j, argument := range field.Arguments {
			if argument.Name == viewerArgument {
				optional, kind := *argument, *argument.Type
				kind.NonNull = false
				optional.Type = &kind
				optional.Description += " Left out, it is the token's account."
				field.Arguments[j] = &optional
			}
		}
		definition.Fields[i] = &field
	}
	return &definition
}
