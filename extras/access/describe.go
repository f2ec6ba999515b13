package access

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/admission"
)

const bearerScheme = "token"

// Describe adds to the OpenAPI document of a program who is admitted, and how others are refused: refused adds an error
// to the answers of an operation. Operations have the rights that they need in their metadata.
func (a *Access) Describe(doc *huma.OpenAPI, refused func(*huma.OpenAPI, *huma.Operation, error)) {
	if a.IsOpen() {
		doc.Info.Description = "**" + OpenWarning + "** " + doc.Info.Description
	} else {
		doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{bearerScheme: {
			Type: "http", Scheme: "bearer", BearerFormat: "JWT",
			Description: "An access token of the issuer that the server trusts. It says which account acts, in which tenant, and with which scopes.",
		}}
		for _, schema := range doc.Components.Schemas.Map() {
			if executor, has := schema.Properties["executor_id"]; has {
				schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == "executor_id" })
				executor.Description = "The user account that acts. Left out, it is the token's; no other one is allowed."
			}
		}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post} {
			if op != nil && op.Metadata[admission.Rights] != nil {
				for _, refusal := range a.describe(op, op.Metadata[admission.Rights].([]admission.Right)) {
					refused(doc, op, refusal)
				}
			}
		}
	}
}

// describe says which token an operation needs, and returns how a caller is refused.
func (a *Access) describe(op *huma.Operation, rights []admission.Right) []*admission.Refusal {
	refusals := []*admission.Refusal{tooManyOf("address")}
	if !a.IsOpen() {
		op.Security = []map[string][]string{{bearerScheme: {}}}
		op.Description += " The token needs the scope `" + scopeOf(rights[0]) + "`"
		for _, right := range rights[1:] {
			op.Description += " or `" + scopeOf(right) + "`"
		}
		op.Description += "."
		refusals = append(refusals, errTokenExpired, missingScope(rights[0]), errUnavailable)
	}
	return refusals
}

// Schema changes the schema of the GraphQL API: with tokens, the viewer's argument is optional.
func (a *Access) Schema(schema *ast.Schema) *ast.Schema {
	if a.IsOpen() {
		return schema
	}
	for _, field := range slices.Concat(schema.Query.Fields, schema.Subscription.Fields) {
		if viewer := field.Arguments.ForName("userAccountId"); viewer != nil && viewer.Type.NonNull {
			viewer.Type = ast.NamedType(viewer.Type.NamedType, viewer.Type.Position)
			viewer.Description += " Left out, it is the token's account."
		}
	}
	return schema
}
