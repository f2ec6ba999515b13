package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
)

// Executable is the executable schema with its resolvers. Package generated returns it.
type Executable struct {
	graphql.ExecutableSchema
	// Plain writes the value of a field whose selection needs no resolver, and is nil for any other.
	Plain func(ctx context.Context, value any) graphql.Marshaler
}

// engine runs operations of all transports: gqlgen's executor with our extensions.
type engine struct {
	documents documents
	executor  *executor.Executor
	presenter presenter
}

func newEngine(schema Executable, p presenter, complexity int, around graphql.OperationMiddleware) engine {
	e := executor.New(schema)
	e.SetQueryCache(loaded{})
	e.SetErrorPresenter(p.present)
	e.SetRecoverFunc(p.recovered)
	e.Use(extension.Introspection{})
	e.Use(limits{complexity})
	e.AroundOperations(around)
	e.AroundFields(schema.aroundField)
	return engine{documents{schema.Schema(), lru.New[*ast.QueryDocument](cachedQueries)}, e, p}
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
			operation, refusal = nil, e.presenter.response(ctx, e.presenter.recovered(ctx, reason))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	document, errs := e.documents.load(ctx, params.Query)
	if errs != nil {
		return nil, e.executor.DispatchError(ctx, errs)
	}
	ctx = context.WithValue(ctx, documentKey{}, document)
	operation, errs = e.executor.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, e.executor.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
	}
	return operation, nil
}

// run passes each answer of an operation to send until there are no more or send returns false. send must not keep an
// answer, because the executor reuses its memory.
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

// encode writes an answer as JSON. An operation that was not executed has no entry data. The data is already JSON and
// may be large, so it is copied once.
func (e engine) encode(ctx context.Context, answer *graphql.Response) []byte {
	errs, err := json.Marshal(answer.Errors)
	extensions, extensionsErr := json.Marshal(answer.Extensions)
	if err := errors.Join(err, extensionsErr); err != nil {
		return e.encode(ctx, e.presenter.response(ctx, fmt.Errorf("write an answer as JSON: %w", err)))
	}
	var entries [][]byte
	entry := func(name string, value []byte) { entries = append(entries, []byte(`"`+name+`":`), value) }
	if len(answer.Errors) > 0 {
		entry("errors", errs)
	}
	if len(answer.Data) > 0 {
		entry("data", answer.Data)
	}
	if len(answer.Extensions) > 0 {
		entry("extensions", extensions)
	}
	return object(entries)
}

// object returns a JSON object. entries alternate between a quoted name with its colon and a value.
func object(entries [][]byte) []byte {
	size := 2
	for _, part := range entries {
		size += len(part) + 1
	}
	encoded := append(make([]byte, 0, size), '{')
	for i, part := range entries {
		if i > 0 && i%2 == 0 {
			encoded = append(encoded, ',')
		}
		encoded = append(encoded, part...)
	}
	return append(encoded, '}')
}
