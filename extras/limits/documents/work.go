package documents

import "github.com/vektah/gqlparser/v2/ast"

const maxDepth = 20 // the schema needs 8; introspection needs more

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
			w.value(variable.DefaultValue, 1)
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
		return tooComplex("the document's fields are nested deeper than %d levels, which is the limit", maxDepth)
	case w.left < 0:
		return tooComplex("the document has too many selections side by side; select fewer fields, or send several documents")
	}
	return nil
}

// merge spends the work for selection sets that are merged into one with their fragments, and for those below it.
// Selections in inline fragments count once per level, because each level is compared by itself.
func (w *work) merge(sets []ast.SelectionSet, depth int) {
	w.tooDeep = w.tooDeep || depth > maxDepth // also if a fragment contains itself
	if w.left < 0 || w.tooDeep {
		return
	}
	selections, spread, below := 0, map[string]bool{}, map[string][]ast.SelectionSet{} // by response name
	var collect func(set ast.SelectionSet, level int)
	collect = func(set ast.SelectionSet, level int) {
		for _, selection := range set {
			selections += level
			switch selection := selection.(type) {
			case *ast.Field:
				w.arguments(selection.Arguments)
				w.directives(selection.Directives)
				if len(selection.SelectionSet) > 0 {
					below[selection.Alias] = append(below[selection.Alias], selection.SelectionSet)
				}
			case *ast.InlineFragment:
				w.directives(selection.Directives)
				collect(selection.SelectionSet, level+1)
			case *ast.FragmentSpread:
				w.directives(selection.Directives)
				if fragment := w.fragments.ForName(selection.Name); fragment != nil && !spread[selection.Name] {
					spread[selection.Name] = true
					collect(fragment.SelectionSet, level)
				}
			}
		}
	}
	for _, set := range sets {
		collect(set, 1)
	}
	w.left -= selections * (selections + workOfSelection)
	for _, sets := range below {
		w.merge(sets, depth+1)
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
	if value == nil {
		return
	}
	w.left -= workOfValue + depth
	if value.Kind == ast.Variable {
		w.left -= w.variables / 10
	}
	for _, child := range value.Children {
		w.value(child.Value, depth+1)
	}
}
