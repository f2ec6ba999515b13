package graphql

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/usecase/query"
)

const (
	defaultPage   = 50
	maxDepth      = 20   // the schema itself ends at 8; introspection goes deeper
	maxTokens     = 5000 // of GraphQL in one document
	maxRootFields = 100  // each is a statement of its own
)

// limits refuses operations before anything of them runs. The complexity of an operation is the number of its fields,
// with those inside a list counted as often as the list's page is long.
type limits struct{ complexity int }

var _ interface {
	graphql.OperationContextMutator
	graphql.HandlerExtension
} = limits{}

// ExtensionName implements [graphql.HandlerExtension].
func (limits) ExtensionName() string { return "limits" }

// Validate implements [graphql.HandlerExtension].
func (limits) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator]. It notes the complexity.
func (l limits) MutateOperationContext(_ context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	m := meter{variables: operation.Variables, fragments: map[fragmentUse]measure{}}
	total := m.selections(operation.Operation.SelectionSet, 1)
	for _, limit := range []struct {
		what        string
		asked, most int
	}{
		{"depth", total.depth, maxDepth},
		{"complexity", total.cost, l.complexity},
		{"number of top-level fields", total.fields, maxRootFields},
	} {
		if limit.asked > limit.most {
			return gqlerror.Wrap(&refusal{codeTooComplex, fmt.Sprintf(
				"the operation's %s is %d, and %d is the most; ask for less at once, or for smaller pages", limit.what, limit.asked, limit.most)})
		}
	}
	operation.Stats.SetExtension(complexityStat, total.cost)
	return nil
}

// measure is how much a selection asks for.
type measure struct {
	cost   int // fields times page sizes
	depth  int
	fields int // of the selection itself
}

// meter measures selections. It measures each fragment once, however often the fragment is spread: fragments that
// spread fragments would otherwise cost the server exponentially more than the client.
type meter struct {
	variables map[string]any
	fragments map[fragmentUse]measure
}

type fragmentUse struct {
	name string
	page int
}

// enough is more than any limit; sums stay there, so that they can't overflow.
const enough = 1 << 30

// selections measures a selection inside a field that returns a page of the given length.
func (m *meter) selections(set ast.SelectionSet, page int) measure {
	var total measure
	for _, selection := range set {
		var part measure
		switch selection := selection.(type) {
		case *ast.Field:
			part = m.field(selection, page)
		case *ast.InlineFragment:
			part = m.selections(selection.SelectionSet, page)
		case *ast.FragmentSpread:
			part = m.fragment(selection.Definition, page)
		}
		total.cost = min(total.cost+part.cost, enough)
		total.fields = min(total.fields+part.fields, enough)
		total.depth = max(total.depth, part.depth)
	}
	return total
}

func (m *meter) fragment(definition *ast.FragmentDefinition, page int) measure {
	use := fragmentUse{definition.Name, page}
	known, measured := m.fragments[use]
	if !measured {
		known = m.selections(definition.SelectionSet, page)
		m.fragments[use] = known
	}
	return known
}

// unpaged are the types in lists that come whole: such a list counts as one of the longest page.
var unpaged = map[string]bool{"StateMember": true}

// field measures a field. The page size of a connection multiplies its edges, which are the list.
func (m *meter) field(field *ast.Field, page int) measure {
	if asked, paged := m.pageSize(field); paged {
		page = asked
	} else if unpaged[field.Definition.Type.Name()] {
		page = query.MaxPage
	} else if field.Name != "edges" {
		page = 1
	}
	isList := field.Definition.Type.Elem != nil
	inside := page
	if isList {
		inside = 1
	} else {
		page = 1
	}
	children := m.selections(field.SelectionSet, inside)
	return measure{cost: min(1+page*children.cost, enough), depth: children.depth + 1, fields: 1}
}

func (m *meter) pageSize(field *ast.Field) (size int, paged bool) {
	first := field.Definition.Arguments.ForName("first")
	if first == nil {
		return 0, false
	}
	given := field.ArgumentMap(m.variables)
	for _, name := range []string{"first", "last"} {
		if value := given[name]; value != nil {
			n, err := graphql.UnmarshalInt(value)
			if err != nil {
				n = query.MaxPage // the resolver will refuse it
			}
			return min(max(n, 1), query.MaxPage), true
		}
	}
	if first.DefaultValue != nil {
		if n, err := graphql.UnmarshalInt(first.DefaultValue.Raw); err == nil {
			return n, true
		}
	}
	return defaultPage, true
}
