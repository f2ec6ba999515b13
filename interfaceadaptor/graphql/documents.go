package graphql

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// documents caches parsed documents. It removes @defer, which permits an answer in parts but does not require it: over
// POST there is only one part, and the engine would wait forever for a deferred part after an operation's timeout.
type documents struct {
	graphql.Cache[*ast.QueryDocument]
}

// Add implements [graphql.Cache]. The engine calls it with every valid document before running and sharing it.
func (d documents) Add(ctx context.Context, text string, document *ast.QueryDocument) {
	for _, operation := range document.Operations {
		deferNothing(operation.SelectionSet)
	}
	for _, fragment := range document.Fragments {
		deferNothing(fragment.SelectionSet)
	}
	d.Cache.Add(ctx, text, document)
}

func deferNothing(selections ast.SelectionSet) {
	isDefer := func(directive *ast.Directive) bool { return directive.Name == "defer" }
	for _, selection := range selections {
		switch selection := selection.(type) {
		case *ast.Field:
			deferNothing(selection.SelectionSet)
		case *ast.InlineFragment:
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
			deferNothing(selection.SelectionSet)
		case *ast.FragmentSpread: // the fragment itself is among the document's
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
		}
	}
}
