package graphql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/interfaceadaptor/graphql/generated"
)

// engine runs operations, whichever transport they come by: gqlgen's executor, with what is ours around it.
type engine struct {
	executor  *executor.Executor
	presenter presenter
}

func newEngine(resolvers resolver, p presenter, complexity int, around graphql.OperationMiddleware) engine {
	e := executor.New(generated.NewExecutableSchema(generated.Config{Resolvers: resolvers}))
	e.SetQueryCache(documents{lru.New[*ast.QueryDocument](cachedQueries)})
	e.SetParserTokenLimit(maxTokens)
	e.SetErrorPresenter(p.present)
	e.SetRecoverFunc(p.recovered)
	e.Use(extension.Introspection{})
	e.Use(limits{complexity})
	e.AroundOperations(around)
	e.AroundFields(markResolverErrors)
	return engine{e, p}
}

// begin parses, validates and measures an operation, and nothing of it runs. What is refused has no operation, but an
// answer.
func (e engine) begin(ctx context.Context, params *graphql.RawParams) (operation *graphql.OperationContext, refusal *graphql.Response) {
	defer func() {
		if reason := recover(); reason != nil {
			operation, refusal = nil, e.presenter.response(ctx, e.presenter.recovered(ctx, reason))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	operation, errs := e.executor.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, e.executor.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
	}
	return operation, nil
}

// run passes each answer of an operation to send, until there are no more or send returns false. send must not keep an
// answer: the executor uses the same memory for the next.
func (e engine) run(ctx context.Context, operation *graphql.OperationContext, send func(*graphql.Response) bool) {
	defer func() {
		if reason := recover(); reason != nil {
			send(e.presenter.response(ctx, e.presenter.recovered(ctx, reason)))
		}
	}()
	responses, ctx := e.executor.DispatchOperation(ctx, operation)
	for answer := responses(ctx); answer != nil && send(answer); {
		answer = responses(ctx)
	}
}

// encode writes an answer as JSON. The answer of an operation that has not run has no entry data.
func (e engine) encode(ctx context.Context, answer *graphql.Response) json.RawMessage {
	type shape struct {
		Errors     gqlerror.List   `json:"errors,omitempty"`
		Data       json.RawMessage `json:"data,omitempty"`
		Extensions map[string]any  `json:"extensions,omitempty"`
	}
	encoded, err := json.Marshal(shape{answer.Errors, answer.Data, answer.Extensions})
	if err != nil {
		failed := e.presenter.response(ctx, fmt.Errorf("write an answer as JSON: %w", err))
		encoded, _ = json.Marshal(shape{Errors: failed.Errors})
	}
	return encoded
}
