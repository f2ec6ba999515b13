package graphql

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// maxErrors is the maximum number of errors in a document that are reported.
const maxErrors = 10

// documents parses, validates and caches documents.
type documents struct {
	schema *ast.Schema
	cache  graphql.Cache[*ast.QueryDocument]
}

// load returns the valid document of a text, or why it is refused. The time it takes grows only with the length of the
// text, because no other limit applies to it.
func (d documents) load(ctx context.Context, text string) (*ast.QueryDocument, gqlerror.List) {
	if known, cached := d.cache.Get(ctx, text); cached {
		return known, nil
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err == nil {
		err = checkWork(document)
	}
	if err == nil && ctx.Err() != nil {
		err = resolverError{ctx.Err()} // the client has left
	}
	if err != nil {
		return nil, gqlerror.List{gqlerror.WrapIfUnwrapped(err)}
	}
	if errs := d.validate(document); len(errs) > 0 {
		return nil, errs
	}
	deferNothing(document)
	d.cache.Add(ctx, text, document)
	return document, nil
}

// validate applies the rules of GraphQL until there are maxErrors errors. It suggests no similar names, because the
// search for them may cost more than all the rules.
func (d documents) validate(document *ast.QueryDocument) (errs gqlerror.List) {
	defer func() {
		if reason := recover(); reason != nil && len(errs) < maxErrors {
			panic(reason)
		}
	}()
	applied := rules.NewRules()
	for name, rule := range withoutSuggestions().GetInner() {
		applied.AddRule(name, func(observers *core.Events, _ core.AddErrFunc) {
			rule(observers, func(options ...core.ErrorOption) {
				err := &gqlerror.Error{Rule: name}
				for _, option := range options {
					option(err)
				}
				if errs = append(errs, err); len(errs) == maxErrors {
					panic("enough errors") // the only way to stop the rules
				}
			})
		})
	}
	_ = validator.ValidateWithRules(d.schema, document, applied)
	return errs
}

func withoutSuggestions() *rules.Rules {
	chosen := rules.NewDefaultRules()
	for _, rule := range []core.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		chosen.ReplaceRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"), rule.RuleFunc)
	}
	return chosen
}

// documentKey is the key of an operation's document in its context.
type documentKey struct{}

// loaded passes the document of [documents.load] to gqlgen's executor, which asks a cache first.
type loaded struct{}

// Get implements [graphql.Cache].
func (loaded) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, found := ctx.Value(documentKey{}).(*ast.QueryDocument)
	return document, found
}

// Add implements [graphql.Cache].
func (loaded) Add(context.Context, string, *ast.QueryDocument) {}

// deferNothing removes @defer, which permits an answer in parts but does not require it: over POST there is only one
// part, and the engine would wait forever for a deferred part after an operation's timeout.
func deferNothing(document *ast.QueryDocument) {
	for _, operation := range document.Operations {
		undefer(operation.SelectionSet)
	}
	for _, fragment := range document.Fragments {
		undefer(fragment.SelectionSet)
	}
}

func undefer(selections ast.SelectionSet) {
	isDefer := func(directive *ast.Directive) bool { return directive.Name == "defer" }
	for _, selection := range selections {
		switch selection := selection.(type) {
		case *ast.Field:
			undefer(selection.SelectionSet)
		case *ast.InlineFragment:
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
			undefer(selection.SelectionSet)
		case *ast.FragmentSpread: // the fragment itself is among the document's
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
		}
	}
}
