package graphql

import (
	"context"
	"iter"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// subscription is shared by the resolver, which sends changes, and the handler, which answers them.
type subscription struct {
	handler    *handler
	complexity int
	taken      chan func() // the turns of changes that were sent and not yet resolved
	// ended is the reason for the end; nil: the client's request. It is set before the channel of changes is closed.
	ended *gqlerror.Error
}

type subscriptionKey struct{}

// subscriptionOf returns the subscription of a resolver's context.
func subscriptionOf(ctx context.Context) *subscription {
	s, _ := ctx.Value(subscriptionKey{}).(*subscription)
	return s
}

// send passes a change on once there is a turn to resolve it; false: the subscription has ended.
func send[T any](ctx context.Context, s *subscription, changes chan<- T, change T) bool {
	release, err := s.handler.turns.take(ctx, s.complexity)
	if err != nil {
		return false
	}
	select {
	case s.taken <- release:
	case <-ctx.Done():
		release()
		return false
	}
	select {
	case changes <- change:
		return true
	case <-ctx.Done():
		s.resolved()
		return false
	}
}

// resolved releases the turn of a change.
func (s *subscription) resolved() {
	select {
	case release := <-s.taken:
		release()
	default:
	}
}

// follow answers a subscription. If it ends with an error, that is the last answer. It ends when its
// caller is not admitted any more.
func (h *handler) follow(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	s := &subscription{handler: h, complexity: complexityOf(ctx), taken: make(chan func(), 1)}
	following, release := a.guard.Stay(context.WithValue(ctx, subscriptionKey{}, s))
	responses, ended := next(following), false
	return func(following context.Context) *graphql.Response {
		if ended {
			return nil
		}
		response := responses(following)
		s.resolved()
		if response != nil {
			return response
		}
		ended = true
		defer release()
		if cause := context.Cause(following); cause != nil && ctx.Err() == nil {
			s.ended = h.presenter.present(following, cause)
		}
		if ctx.Err() != nil || s.ended == nil {
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{s.ended}, Data: []byte("null")}
	}
}

// ThreadChanged resolves Subscription.threadChanged.
func (r Resolver) ThreadChanged(ctx context.Context, threadID, userAccountID string) (<-chan model.Thread, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	return Stream(ctx, r.queries.ThreadChanges(ctx, viewer, chat.ThreadID(key)), func(changed query.Thread) model.Thread {
		return model.NewThread(changed, model.NewSiblings(r.queries, viewer.Tenant, changed))
	}), nil
}

// Stream sends changes to a subscription until they end. Its goroutine ends with ctx, which is the subscription's.
func Stream[S, T any](ctx context.Context, changes iter.Seq2[S, error], form func(S) T) <-chan T {
	sub := subscriptionOf(ctx)
	sent := make(chan T)
	go func() {
		defer close(sent)
		for changed, err := range changes {
			if err != nil {
				sub.ended = sub.handler.presenter.present(ctx, resolverError{err})
				return
			}
			if !send(ctx, sub, sent, form(changed)) {
				return
			}
		}
	}()
	return sent
}
