package graphql

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// asker is what the HTTP request says about who asks, and under which condition.
type asker struct {
	tenant usecase.Tenant
	tokens []query.Token
	// canStream says that the transport can deliver more than one answer.
	canStream bool
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

const needsStream = "must be sent over a WebSocket, or by a request that prefers text/event-stream"

// aroundOperation is what every operation passes after the limits: for a subscription a transport that can deliver it, for
// anything else a time limit, and the wait for the consistency tokens.
func (h *handler) aroundOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	a := askerOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return h.inTime(ctx, a, next)
	}
	if !a.canStream {
		return graphql.OneShot(h.presenter.response(ctx, &ident.InvalidError{Field: "subscription", Reason: needsStream}))
	}
	if err := h.await(ctx, a); err != nil {
		return graphql.OneShot(h.presenter.response(ctx, err))
	}
	return followed(ctx, next)
}

// await waits for the consistency tokens of the request.
func (h *handler) await(ctx context.Context, a asker) error {
	if len(a.tokens) == 0 {
		return nil
	}
	return h.queries.Await(ctx, a.tenant, a.tokens)
}

// inTime answers an operation that is no subscription within the query timeout, the wait for its tokens included. The
// engine resolves it no sooner than the transport asks for the response, so the deadline is set around that. The context
// that the transport goes on with is not under it: the answer that time is over has to be sent, too.
func (h *handler) inTime(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	deadline := time.Now().Add(h.settings.QueryTimeout)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := h.await(waiting, a); err != nil {
		return graphql.OneShot(h.presenter.response(ctx, err))
	}
	responses := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return responses(ctx)
	}
}

// followed answers a subscription; the error that it ends with, if any, is its last answer.
func followed(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	end := &ending{}
	responses := next(context.WithValue(ctx, endingKey{}, end))
	return func(ctx context.Context) *graphql.Response {
		if response := responses(ctx); response != nil || ctx.Err() != nil || end.err == nil {
			return response
		}
		last := &graphql.Response{Errors: gqlerror.List{end.err}, Data: []byte("null")}
		end.err = nil
		return last
	}
}
