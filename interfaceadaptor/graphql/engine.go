package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase/query"
)

// Executable is the executable schema with its resolvers. Package generated returns it.
type Executable struct {
	graphql.ExecutableSchema
	// Plain writes the value of a field whose selection needs no resolver, and is nil for any other.
	Plain func(ctx context.Context, value any) graphql.Marshaler
}

// Resolver resolves the core's fields of Query and Subscription.
type Resolver struct{ Queries *query.Queries }

// aroundField resolves every field that package plain does not write, and marks errors as those of resolvers.
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

// Begin parses and validates an operation without running it. For a refused one it returns an answer and no operation.
func (h *Handler) Begin(ctx context.Context, params *graphql.RawParams) (operation *graphql.OperationContext, refusal *graphql.Response) {
	defer func() {
		if reason := recover(); reason != nil {
			operation, refusal = nil, h.Response(ctx, h.recovered(ctx, reason))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	if ctx.Err() != nil { // the client has left
		return nil, h.Response(ctx, ctx.Err())
	}
	operation, errs := h.executor.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, h.executor.DispatchError(ctx, errs)
	}
	return operation, nil
}

// Run passes each answer of an operation to send, which must not keep it, until send returns false or it was the last.
func (h *Handler) Run(ctx context.Context, operation *graphql.OperationContext, send func(*graphql.Response) bool) {
	defer func() {
		if reason := recover(); reason != nil {
			send(h.Response(ctx, h.recovered(ctx, reason)))
		}
	}()
	responses, ctx := h.executor.DispatchOperation(ctx, operation)
	for answer := responses(ctx); answer != nil && send(answer); {
		answer = responses(ctx)
	}
}

// Encode writes an answer as JSON, or an error if its client may use no more memory; then whole is false. Call release.
func (h *Handler) Encode(ctx context.Context, answer *graphql.Response) (encoded []byte, release func(), whole bool) {
	encoded = encodeJSON(answer)
	release, err := askerOf(ctx).guard.Hold(len(encoded))
	if err != nil {
		return encodeJSON(h.Response(ctx, err)), func() {}, false
	}
	return encoded, release, true
}

// encodeJSON writes an answer as JSON, without data if the operation was not executed. The data is JSON already.
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

const needsStream = "must be sent by a request that prefers text/event-stream, or over another transport with many answers"

// aroundOperation has an operation wait for its tokens. A subscription needs a stream, and others have a time limit.
func (h *Handler) aroundOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	a := askerOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return h.inTime(ctx, a, next)
	}
	err := error(&ident.InvalidError{Field: "subscription", Reason: needsStream})
	if a.canStream {
		err = h.await(ctx, a)
	}
	if err != nil {
		return graphql.OneShot(h.Response(ctx, err))
	}
	return h.follow(ctx, a, next)
}

// await waits for the consistency tokens of the request.
func (h *Handler) await(ctx context.Context, a asker) error {
	if len(a.tokens) == 0 {
		return nil
	}
	viewer := query.Viewer{Tenant: a.Tenant}
	if !a.NamesAnyone() && !a.IsOperator() {
		viewer.User = a.Account
	}
	return h.queries.Await(ctx, viewer, a.tokens)
}

// inTime executes an operation within the query timeout, which includes the waits for its tokens. The engine resolves
// an operation when the transport asks for the response, so the deadline is set around that. The transport's own
// context has no deadline, because the answer about a timeout must be sent, too.
func (h *Handler) inTime(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	deadline := time.Now().Add(h.settings.QueryTimeout)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := h.await(waiting, a); err != nil {
		return graphql.OneShot(h.Response(ctx, err))
	}
	responses := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		inTime, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return responses(inTime)
	}
}

// subscription is shared by the resolver, which sends changes ([Stream]), and the handler, which answers them.
type subscription struct {
	presenter
	// ended is the reason for the end; nil: the client's request. That of a guard counts before the resolver's.
	ended atomic.Pointer[gqlerror.Error]
}

type subscriptionKey struct{}

// follow answers a subscription until it or its caller's admission ends. If it ends with an error, that comes last.
func (h *Handler) follow(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	s := &subscription{presenter: h.presenter}
	following, release := a.guard.Stay(context.WithValue(ctx, subscriptionKey{}, s))
	responses, ended := next(following), false
	return func(following context.Context) *graphql.Response {
		if ended {
			return nil
		}
		if response := responses(following); response != nil {
			return response
		}
		ended = true
		defer release()
		if cause := context.Cause(following); cause != nil && ctx.Err() == nil {
			s.ended.Store(h.present(following, cause))
		}
		reason := s.ended.Load()
		if ctx.Err() != nil || reason == nil {
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{reason}, Data: []byte("null")}
	}
}

// Stream sends changes to a subscription until they end. Its goroutine ends with ctx, which is the subscription's.
func Stream[S, T any](ctx context.Context, changes iter.Seq2[S, error], form func(S) T) <-chan T {
	s := ctx.Value(subscriptionKey{}).(*subscription)
	sent := make(chan T)
	go func() {
		defer close(sent)
		for changed, err := range changes {
			if err != nil {
				s.ended.CompareAndSwap(nil, s.present(ctx, resolverError{err}))
				return
			}
			select {
			case sent <- form(changed):
			case <-ctx.Done():
				return
			}
		}
	}()
	return sent
}

var errNoArgument = errors.New("this type is never an argument")

// MarshalTime writes the scalar Time.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, t.UTC().Format(`"2006-01-02T15:04:05.000000Z"`))
	})
}

// UnmarshalTime always fails.
func UnmarshalTime(any) (time.Time, error) { return time.Time{}, errNoArgument }

// MarshalJSON writes the scalar JSON: a value that is already encoded.
func MarshalJSON(encoded []byte) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(encoded) })
}

// UnmarshalJSON always fails.
func UnmarshalJSON(any) ([]byte, error) { return nil, errNoArgument }
