package graphql

import (
	"fmt"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/usecase/query"
)

const (
	defaultPage   = 50
	maxDepth      = 20   // the schema needs 8; introspection needs more
	maxTokens     = 5000 // GraphQL tokens of a document
	maxRootFields = 100  // each needs a statement of its own
)

// limitComplexity refuses an operation that would cost too much to execute, and notes the complexity of others: the
// number of the fields, where fields inside a list count as often as the list's page has rows.
func limitComplexity(operation *graphql.OperationContext, most int) error {
	m := meter{variables: operation.Variables, fragments: map[fragmentUse]measure{}}
	total := m.selections(operation.Operation.SelectionSet, 1)
	const refusal = "the operation's %s is %d, and at most %d is accepted; select fewer fields, or smaller pages"
	switch {
	case total.cost > most:
		return &limitRefusal{codeTooComplex, fmt.Sprintf(refusal, "complexity", total.cost, most)}
	case total.fields > maxRootFields:
		return &limitRefusal{codeTooComplex, fmt.Sprintf(refusal, "number of top-level fields", total.fields, maxRootFields)}
	}
	operation.Stats.SetExtension(complexityStat, total.cost)
	return nil
}

const complexityStat = "complexity"

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
			part = measure{m.field(selection, page), 1}
		case *ast.InlineFragment:
			part = m.selections(selection.SelectionSet, page)
		case *ast.FragmentSpread:
			use, known := fragmentUse{selection.Name, page}, false
			if part, known = m.fragments[use]; !known {
				part = m.selections(selection.Definition.SelectionSet, page)
				m.fragments[use] = part
			}
		}
		total.cost = min(total.cost+part.cost, enough)
		total.fields = min(total.fields+part.fields, enough)
	}
	return total
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
	return min(1+times*m.selections(field.SelectionSet, inside).cost, enough)
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
	if usual, err := strconv.Atoi(first.DefaultValue.String()); err == nil {
		return usual, true
	}
	return defaultPage, true
}

// A unit of work is about 50 ns of processor time.
const (
	maxWork         = 100_000
	workOfSelection = 10
	workOfValue     = 5
)

// work estimates the cost of validating a document, which is not linear in its size: the rules visit each operation and
// each fragment with all fragments inside, and compare the selections that are merged into one set in pairs. The
// estimate takes less time than it allows the rules.
type work struct {
	fragments ast.FragmentDefinitionList
	variables int // of the operation; the rules search them for every use of one
	left      int
	tooDeep   bool
}

// limitWork refuses a document that would cost too much to validate.
func limitWork(document *ast.QueryDocument) error {
	w := work{fragments: document.Fragments, left: maxWork}
	for _, operation := range document.Operations {
		w.variables = len(operation.VariableDefinitions)
		for _, variable := range operation.VariableDefinitions {
			w.left -= workOfSelection
			w.directives(variable.Directives)
			if variable.DefaultValue != nil {
				w.value(variable.DefaultValue, 1)
			}
		}
		w.directives(operation.Directives)
		w.merge([]ast.SelectionSet{operation.SelectionSet}, 1)
	}
	w.variables = 0
	for _, fragment := range document.Fragments {
		w.directives(fragment.Directives)
		w.merge([]ast.SelectionSet{fragment.SelectionSet}, 1)
	}
	switch {
	case w.tooDeep:
		return &limitRefusal{codeTooComplex, fmt.Sprintf("the document's fields are nested deeper than %d levels, which is the limit", maxDepth)}
	case w.left < 0:
		return &limitRefusal{codeTooComplex, "the document has too many selections side by side; select fewer fields, or send several documents"}
	}
	return nil
}

// merge spends the work for selection sets that are merged into one, and for those below it.
func (w *work) merge(sets []ast.SelectionSet, depth int) {
	w.tooDeep = w.tooDeep || depth > maxDepth // also if a fragment contains itself
	if w.left < 0 || w.tooDeep {
		return
	}
	merged := mergedSet{spread: map[string]bool{}, below: map[string][]ast.SelectionSet{}}
	for _, set := range sets {
		w.collect(&merged, set, 1)
	}
	w.left -= merged.selections * (merged.selections + workOfSelection)
	for _, below := range merged.below {
		w.merge(below, depth+1)
	}
}

// mergedSet is a selection set with its fragments. Selections in inline fragments count once per level, because each
// level is compared by itself.
type mergedSet struct {
	selections int
	spread     map[string]bool               // the fragments
	below      map[string][]ast.SelectionSet // by response name
}

func (w *work) collect(merged *mergedSet, set ast.SelectionSet, level int) {
	for _, selection := range set {
		merged.selections += level
		switch selection := selection.(type) {
		case *ast.Field:
			w.arguments(selection.Arguments)
			w.directives(selection.Directives)
			if len(selection.SelectionSet) > 0 {
				merged.below[selection.Alias] = append(merged.below[selection.Alias], selection.SelectionSet)
			}
		case *ast.InlineFragment:
			w.directives(selection.Directives)
			w.collect(merged, selection.SelectionSet, level+1)
		case *ast.FragmentSpread:
			w.directives(selection.Directives)
			if fragment := w.fragments.ForName(selection.Name); fragment != nil && !merged.spread[selection.Name] {
				merged.spread[selection.Name] = true
				w.collect(merged, fragment.SelectionSet, level)
			}
		}
	}
}

func (w *work) directives(directives ast.DirectiveList) {
	for _, directive := range directives {
		w.left -= workOfSelection
		w.arguments(directive.Arguments)
	}
}

func (w *work) arguments(arguments ast.ArgumentList) {
	for _, argument := range arguments {
		w.value(argument.Value, 1)
	}
}

// value counts nested values by their depth, because a rule evaluates each level with everything inside.
func (w *work) value(value *ast.Value, depth int) {
	w.left -= workOfValue + depth
	if value.Kind == ast.Variable {
		w.left -= w.variables / 10
	}
	for _, child := range value.Children {
		w.value(child.Value, depth+1)
	}
}
