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
	maxDepth      = 20   // the schema needs 8; introspection needs more
	maxTokens     = 5000 // GraphQL tokens of a document
	maxRootFields = 100  // each needs a statement of its own
)

// limits refuses operations before execution. The complexity of an operation is the number of its fields, where fields
// inside a list count as often as the list's page has rows.
type limits struct{ complexity int }

var _ interface {
	graphql.OperationContextMutator
	graphql.HandlerExtension
} = limits{}

// ExtensionName implements [graphql.HandlerExtension].
func (limits) ExtensionName() string { return "limits" }

// Validate implements [graphql.HandlerExtension].
func (limits) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator]. It records the complexity.
func (l limits) MutateOperationContext(_ context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	m := meter{variables: operation.Variables, fragments: map[fragmentUse]measure{}}
	total := m.selections(operation.Operation.SelectionSet, 1)
	for _, limit := range []struct {
		what        string
		asked, most int
	}{
		{"complexity", total.cost, l.complexity},
		{"number of top-level fields", total.fields, maxRootFields},
	} {
		if limit.asked > limit.most {
			return gqlerror.Wrap(&limitRefusal{codeTooComplex, fmt.Sprintf(
				"the operation's %s is %d, and at most %d is accepted; select fewer fields, or smaller pages", limit.what, limit.asked, limit.most)})
		}
	}
	operation.Stats.SetExtension(complexityStat, total.cost)
	return nil
}

// measure is the cost of a selection.
type measure struct {
	cost   int // fields times page sizes
	fields int // of the selection itself
}

// meter measures selections. Each fragment is measured once, because nested fragments would otherwise cost the server
// exponentially more than the client.
type meter struct {
	variables map[string]any
	fragments map[fragmentUse]measure
}

type fragmentUse struct {
	name string
	page int
}

// enough is above every limit; sums are capped there to avoid overflow.
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

// unpaged are the element types of lists without pages. Such a list counts as a page of maximum size.
var unpaged = map[string]bool{"StateMember": true}

// field measures a field. The page size of a connection multiplies its edges, which are the list's rows.
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
	return measure{cost: min(1+page*children.cost, enough), fields: 1}
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
				n = query.MaxPage // the resolver will refuse the value
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
