package graphql

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// asker is what the HTTP request says about who asks, and under which condition.
type asker struct {
	tenant usecase.Tenant
	tokens []query.Token
	// canStream says that the transport can deliver more than one answer.
	canStream bool
	// running counts the operations of a WebSocket; nil elsewhere, where a request is one operation.
	running *atomic.Int32
}

type askerKey struct{}

func withAsker(ctx context.Context, a asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

func askerOf(ctx context.Context) asker {
	a, _ := ctx.Value(askerKey{}).(asker)
	return a
}

// ending is why a subscription ended; nil for the client's wish. It is set before the subscription's channel is closed.
type ending struct{ err *gqlerror.Error }

type endingKey struct{}

const needsStream = "must be sent over a WebSocket, or by a POST that accepts text/event-stream"

// aroundOperation is what every operation passes after the limits: the bound on a WebSocket's operations, for a subscription
// a transport that can deliver it, the wait for the consistency tokens, and for a subscription the error that it ends with,
// as its last answer.
func (h *handler) aroundOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	a := askerOf(ctx)
	if a.running != nil {
		if a.running.Add(1) > maxOperations {
			a.running.Add(-1)
			return graphql.OneShot(h.presenter.response(ctx, &thread.InvalidError{Field: "subscribe", Reason: tooManyOperations}))
		}
		context.AfterFunc(ctx, func() { a.running.Add(-1) }) // the transport ends ctx with the operation
	}
	subscribes := graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription
	if subscribes && !a.canStream {
		return graphql.OneShot(h.presenter.response(ctx, &thread.InvalidError{Field: "subscription", Reason: needsStream}))
	}
	if len(a.tokens) > 0 {
		if err := h.queries.Await(ctx, a.tenant, a.tokens); err != nil {
			return graphql.OneShot(h.presenter.response(ctx, err))
		}
	}
	if !subscribes {
		return next(ctx)
	}
	end := &ending{}
	responses := next(context.WithValue(ctx, endingKey{}, end))
	return func(ctx context.Context) *graphql.Response {
		if response := responses(ctx); response != nil || ctx.Err() != nil || end.err == nil {
			return response
		}
		last := &graphql.Response{Errors: gqlerror.List{end.err}}
		end.err = nil
		return last
	}
}
