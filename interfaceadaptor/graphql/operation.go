package graphql

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase/query"
)

type askerKey struct{}

func withAsker(ctx context.Context, a asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

func askerOf(ctx context.Context) asker {
	a, _ := ctx.Value(askerKey{}).(asker)
	return a
}

const needsStream = "must be sent over a WebSocket, or by a request that prefers text/event-stream"

// aroundOperation runs for every operation after the limits. A subscription needs a streaming transport. Other
// operations get a time limit and wait for their consistency tokens.
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
	return h.follow(ctx, a, next)
}

// await waits for the consistency tokens of the request.
func (h *handler) await(ctx context.Context, a asker) error {
	if len(a.tokens) == 0 {
		return nil
	}
	viewer := query.Viewer{Tenant: a.Tenant}
	if !a.NamesAnyone() && !a.IsOperator() {
		viewer.User = a.Account
	}
	return h.queries.Await(ctx, viewer, a.tokens)
}

// inTime executes an operation other than a subscription within the query timeout. The timeout includes the waits for
// its tokens and its turn. The engine resolves an operation when the transport asks for the response, so the deadline
// is set around that. The transport's own context has no deadline, because the answer about a timeout must be sent,
// too.
func (h *handler) inTime(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	deadline := time.Now().Add(h.settings.QueryTimeout)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := h.await(waiting, a); err != nil {
		return graphql.OneShot(h.presenter.response(ctx, err))
	}
	responses, answered := next(ctx), false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		inTime, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		release, err := h.turns.take(inTime, complexityOf(ctx))
		if err != nil {
			return h.presenter.response(ctx, err)
		}
		defer release()
		return responses(inTime)
	}
}
