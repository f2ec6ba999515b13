package graphql

import (
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql/generated"
)

// Schema returns the schema of the API. All handlers share it, so change a copy.
func Schema() *ast.Schema { return generated.NewExecutableSchema(generated.Config{}).Schema() }
