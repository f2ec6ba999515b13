package graphql

import (
	"context"
	"iter"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

const needsStream = "must be sent over a WebSocket, or by a request that prefers text/event-stream"

// aroundOperation runs for every operation after the limits. A subscription needs a streaming transport. Other
// operations get a time limit and wait for their consistency tokens.
func (h *handler) aroundOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	a := askerOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return h.inTime(ctx, a, next)
	}
	err := error(&ident.InvalidError{Field: "subscription", Reason: needsStream})
	if a.canStream {
		err = h.await(ctx, a)
	}
	if err != nil {
		return graphql.OneShot(h.response(ctx, err))
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

// weight returns the complexity of an operation, as far as inFlight has room for it.
func (h *handler) weight(ctx context.Context) int64 {
	complexity, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(complexityStat).(int)
	return int64(min(max(complexity, 1), h.settings.InFlightLimit))
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
		return graphql.OneShot(h.response(ctx, err))
	}
	responses, answered := next(ctx), false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		inTime, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		weight := h.weight(ctx)
		if h.inFlight.Acquire(inTime, weight) != nil {
			return h.response(ctx, es.ErrUnavailable)
		}
		defer h.inFlight.Release(weight)
		return responses(inTime)
	}
}

// subscription is shared by the resolver, which sends changes ([Stream]), and the handler, which answers them.
type subscription struct {
	handler  *handler
	answered chan struct{} // receives when a change has been resolved
	// ended is the reason for the end; nil: the client's request. It is set before the channel of changes is closed.
	ended *gqlerror.Error
}

type subscriptionKey struct{}

// follow answers a subscription. If it ends with an error, that is the last answer. It ends when its
// caller is not admitted any more.
func (h *handler) follow(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	s := &subscription{handler: h, answered: make(chan struct{}, 1)}
	following, release := a.guard.Stay(context.WithValue(ctx, subscriptionKey{}, s))
	responses, ended := next(following), false
	return func(following context.Context) *graphql.Response {
		if ended {
			return nil
		}
		if response := responses(following); response != nil {
			select {
			case s.answered <- struct{}{}:
			default: // an error of the resolver, which sends nothing
			}
			return response
		}
		ended = true
		defer release()
		if cause := context.Cause(following); cause != nil && ctx.Err() == nil {
			s.ended = h.present(following, cause)
		}
		if ctx.Err() != nil || s.ended == nil {
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{s.ended}, Data: []byte("null")}
	}
}

// Stream sends changes to a subscription until they end, each once there is room to resolve it. Its goroutine ends with
// ctx, which is the subscription's.
func Stream[S, T any](ctx context.Context, changes iter.Seq2[S, error], form func(S) T) <-chan T {
	s := ctx.Value(subscriptionKey{}).(*subscription)
	weight := s.handler.weight(ctx)
	sent := make(chan T)
	pass := func(change T) {
		if s.handler.inFlight.Acquire(ctx, weight) != nil {
			return
		}
		defer s.handler.inFlight.Release(weight)
		select {
		case sent <- change:
		case <-ctx.Done():
			return
		}
		select {
		case <-s.answered:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(sent)
		for changed, err := range changes {
			if err != nil {
				s.ended = s.handler.present(ctx, resolverError{err})
				return
			}
			if pass(form(changed)); ctx.Err() != nil {
				return
			}
		}
	}()
	return sent
}
