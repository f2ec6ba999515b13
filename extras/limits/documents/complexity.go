package documents

import (
	"fmt"
	"strconv"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/usecase/query"
)

const maxRootFields = 100 // each needs a statement of its own

// complexityOf returns the number of an operation's fields, where fields inside a list count as often as the list's
// page has rows. It refuses an operation that would cost too much to execute.
func complexityOf(operation *gqlgen.OperationContext, most int) (int, error) {
	m := meter{variables: operation.Variables, fragments: map[fragmentUse]int{}}
	cost := m.selections(operation.Operation.SelectionSet, 1)
	fields := len(gqlgen.CollectFields(operation, operation.Operation.SelectionSet, []string{"Query", "Subscription"}))
	const refusal = "the operation's %s is %d, and at most %d is accepted; select fewer fields, or smaller pages"
	switch {
	case cost > most:
		return cost, tooComplex(refusal, "complexity", cost, most)
	case fields > maxRootFields:
		return cost, tooComplex(refusal, "number of top-level fields", fields, maxRootFields)
	}
	return cost, nil
}

func tooComplex(format string, args ...any) error {
	return &graphql.Refusal{Code: graphql.CodeTooComplex, Message: fmt.Sprintf(format, args...)}
}

// meter measures selections. Each fragment is measured once, because nested fragments would otherwise cost the server
// exponentially more than the client.
type meter struct {
	variables map[string]any
	fragments map[fragmentUse]int
}

type fragmentUse struct {
	name string
	page int
}

// enough is above every limit; sums are capped there to avoid overflow.
const enough = 1 << 30

// selections measures a selection inside a field that returns a page of the given length.
func (m *meter) selections(set ast.SelectionSet, page int) (cost int) {
	for _, selection := range set {
		var part int
		switch selection := selection.(type) {
		case *ast.Field:
			part = m.field(selection, page)
		case *ast.InlineFragment:
			part = m.selections(selection.SelectionSet, page)
		case *ast.FragmentSpread:
			use, known := fragmentUse{selection.Name, page}, false
			if part, known = m.fragments[use]; !known {
				part = m.selections(selection.Definition.SelectionSet, page)
				m.fragments[use] = part
			}
		}
		cost = min(cost+part, enough)
	}
	return cost
}

// unpaged is the element type of a list without pages. Such a list counts as a page of maximum size.
const unpaged = "StateMember"

// field measures a field inside a page. The page size of a connection multiplies its edges, which are the list's rows.
func (m *meter) field(field *ast.Field, page int) int {
	if asked, paged := m.pageSize(field); paged {
		page = asked
	} else if field.Definition.Type.Name() == unpaged {
		page = query.MaxPage
	} else if field.Name != "edges" {
		page = 1
	}
	times, inside := 1, page
	if isList := field.Definition.Type.Elem != nil; isList {
		times, inside = page, 1
	}
	return min(1+times*m.selections(field.SelectionSet, inside), enough)
}

func (m *meter) pageSize(field *ast.Field) (size int, paged bool) {
	first := field.Definition.Arguments.ForName("first")
	if first == nil {
		return 0, false
	}
	given := field.ArgumentMap(m.variables)
	for _, name := range []string{"first", "last"} {
		if value := given[name]; value != nil {
			n, err := gqlgen.UnmarshalInt(value)
			if err != nil {
				n = query.MaxPage // the resolver will refuse the value
			}
			return min(max(n, 1), query.MaxPage), true
		}
	}
	if usual, err := strconv.Atoi(first.DefaultValue.String()); err == nil {
		return usual, true
	}
	return graphql.DefaultPage, true
}
