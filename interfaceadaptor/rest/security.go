package rest

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/extras/access"
)

const bearerScheme = "token"

// askForTokens adds to the document that every operation needs a token, and its scope; pages need none.
func askForTokens(doc *huma.OpenAPI, aggregates []Aggregate) {
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{bearerScheme: {
		Type: "http", Scheme: "bearer", BearerFormat: "JWT",
		Description: "An access token of the issuer that the server trusts. It says which account acts, in which tenant, and with which scopes.",
	}}
	guard := func(described *huma.Operation, scopes ...access.Scope) {
		described.Security = []map[string][]string{{bearerScheme: {}}}
		described.Description += " The token needs the scope `" + string(scopes[0]) + "`"
		for _, scope := range scopes[1:] {
			described.Description += " or `" + string(scope) + "`"
		}
		described.Description += "."
		for status, response := range describeProblems(doc.Components.Schemas, refusals(scopes[0])) {
			described.Responses[status] = join(described.Responses[status], response)
		}
	}
	for _, aggregate := range aggregates {
		for _, op := range aggregate.Operations {
			guard(doc.Paths[op.Path].Post, op.needs()...)
		}
		for _, reading := range aggregate.Readings {
			guard(doc.Paths[reading.Path].Get, access.Write)
		}
	}
	for _, schema := range doc.Components.Schemas.Map() {
		if executor, has := schema.Properties[executorField]; has {
			schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == executorField })
			executor.Description = "The user account that acts. Left out, it is the token's; no other one is allowed."
		}
	}
}

// refusals returns the errors of refused callers.
func refusals(scope access.Scope) []*Problem {
	var problems []*Problem
	for _, refusal := range []*access.Refusal{
		access.Unauthenticated("the token has expired"),
		access.MissingScope(scope),
		access.Unavailable("the token can't be verified now; try again later"),
	} {
		problems = append(problems, problemOfRefusal(refusal))
	}
	return problems
}

// join adds another description of the same status to a response.
func join(response, more *huma.Response) *huma.Response {
	if response == nil {
		return more
	}
	response.Description += ", " + more.Description
	for name, header := range more.Headers {
		response.Headers[name] = header
	}
	for name, example := range more.Content[mediaProblem].Examples {
		response.Content[mediaProblem].Examples[name] = example
	}
	return response
}
