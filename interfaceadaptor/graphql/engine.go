package graphql

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

const (
	cachedDocuments = 500
	maxErrors       = 10 // of a document that are reported
)

// Executable is the executable schema with its resolvers. Package generated returns it.
type Executable struct {
	graphql.ExecutableSchema
	// Plain writes the value of a field whose selection needs no resolver, and is nil for any other.
	Plain func(ctx context.Context, value any) graphql.Marshaler
}

// engine runs operations of all transports: gqlgen's executor with our limits.
type engine struct {
	presenter
	executor   *executor.Executor
	schema     *ast.Schema
	documents  graphql.Cache[*ast.QueryDocument] // valid ones
	complexity int                               // limit of an operation
}

func newEngine(schema Executable, log *slog.Logger, complexity int, around graphql.OperationMiddleware) engine {
	e := engine{presenter{log}, executor.New(schema), schema.Schema(), lru.New[*ast.QueryDocument](cachedDocuments), complexity}
	e.executor.SetQueryCache(e.documents)
	e.executor.SetErrorPresenter(e.present)
	e.executor.SetRecoverFunc(e.recovered)
	e.executor.Use(extension.Introspection{})
	e.executor.AroundOperations(around)
	e.executor.AroundFields(schema.aroundField)
	return e
}

// aroundField resolves every field that package plain does not write. It distinguishes a resolver's errors from those
// that the engine finds in the request, such as an argument out of bounds.
func (e Executable) aroundField(ctx context.Context, next graphql.Resolver) (any, error) {
	result, err := next(ctx)
	if err != nil {
		return result, resolverError{err}
	}
	if written := e.Plain(ctx, result); written != nil {
		return written, nil
	}
	return result, nil
}

// begin parses, validates and measures an operation without running it. For a refused one it returns an answer and no
// operation.
func (e engine) begin(ctx context.Context, params *graphql.RawParams) (operation *graphql.OperationContext, refusal *graphql.Response) {
	defer func() {
		if reason := recover(); reason != nil {
			operation, refusal = nil, e.response(ctx, e.recovered(ctx, reason))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	errs := e.load(ctx, params.Query)
	if errs == nil {
		operation, errs = e.executor.CreateOperationContext(ctx, params)
	}
	if errs == nil {
		errs = listOf(limitComplexity(operation, e.complexity))
	}
	if errs != nil {
		return nil, e.executor.DispatchError(ctx, errs)
	}
	return operation, nil
}

// load puts the valid document of a text into the cache, where the executor finds it, or returns why it is refused. The
// time it takes grows only with the length of the text, because no other limit applies to it.
func (e engine) load(ctx context.Context, text string) gqlerror.List {
	if _, cached := e.documents.Get(ctx, text); cached {
		return nil
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err == nil {
		err = limitWork(document)
	}
	if err == nil && ctx.Err() != nil {
		err = resolverError{ctx.Err()} // the client has left
	}
	if err != nil {
		return listOf(err)
	}
	if errs := validator.ValidateWithRules(e.schema, document, validation()); len(errs) > 0 {
		return errs
	}
	deferNothing(e.schema, document)
	e.documents.Add(ctx, text, document)
	return nil
}

func listOf(err error) gqlerror.List {
	if err == nil {
		return nil
	}
	return gqlerror.List{gqlerror.WrapIfUnwrapped(err)}
}

// validation returns the rules of GraphQL, which together report maxErrors errors. They suggest no similar names,
// because the search for them may cost more than all the rules.
func validation() *rules.Rules {
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
	reported, limited := 0, rules.NewRules()
	for name, rule := range chosen.GetInner() {
		limited.AddRule(name, func(observers *core.Events, report core.AddErrFunc) {
			rule(observers, func(options ...core.ErrorOption) {
				if reported++; reported <= maxErrors {
					report(options...)
				}
			})
		})
	}
	return limited
}

// deferNothing turns @defer off, which permits an answer in parts but does not require it: over POST there is only one
// part, and the engine would wait forever for a deferred part after an operation's timeout.
func deferNothing(schema *ast.Schema, document *ast.QueryDocument) {
	never := ast.ArgumentList{{Name: "if", Value: &ast.Value{Kind: ast.BooleanValue, Raw: "false"}}}
	var visitor core.Events
	visitor.OnDirective(func(_ *core.Walker, directive *ast.Directive) {
		if directive.Name == "defer" {
			directive.Arguments = never
		}
	})
	core.Walk(schema, document, &visitor)
}

// run passes each answer of an operation to send until there are no more or send returns false. send must not keep an
// answer, because the executor reuses its memory.
func (e engine) run(ctx context.Context, operation *graphql.OperationContext, send func(*graphql.Response) bool) {
	defer func() {
		if reason := recover(); reason != nil {
			send(e.response(ctx, e.recovered(ctx, reason)))
		}
	}()
	responses, ctx := e.executor.DispatchOperation(ctx, operation)
	for answer := responses(ctx); answer != nil && send(answer); {
		answer = responses(ctx)
	}
}

// encode writes an answer as JSON within the memory that its client may use. Call release after sending it. If that is
// used up, encoded is an error instead of the answer, and whole is false.
func (e engine) encode(ctx context.Context, answer *graphql.Response) (encoded []byte, release func(), whole bool) {
	encoded = encodeJSON(answer)
	release, err := askerOf(ctx).guard.Hold(len(encoded))
	if err != nil {
		return encodeJSON(e.response(ctx, err)), func() {}, false
	}
	return encoded, release, true
}

// encodeJSON writes an answer as JSON. An operation that was not executed has no entry data. The data is already JSON
// and may be large, so it is copied once.
func encodeJSON(answer *graphql.Response) []byte {
	errs, err := json.Marshal(answer.Errors)
	switch {
	case err != nil: // never: they are from present
		panic(err)
	case len(answer.Errors) == 0:
		return slices.Concat([]byte(`{"data":`), answer.Data, []byte(`}`))
	case len(answer.Data) == 0:
		return slices.Concat([]byte(`{"errors":`), errs, []byte(`}`))
	}
	return slices.Concat([]byte(`{"errors":`), errs, []byte(`,"data":`), answer.Data, []byte(`}`))
}
