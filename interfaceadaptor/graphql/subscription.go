package graphql

import (
	"context"
	"errors"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/interfaceadaptor/access"
	"example.com/threads/usecase"
)

// subscription is what a subscription's resolver, which sends changes, and the one who answers them share.
type subscription struct {
	handler    *handler
	complexity int
	taken      chan func()     // the turns of changes that have been sent and not been resolved
	ended      *gqlerror.Error // why it ended; nil for the client's wish. Set before the channel of changes is closed.
}

type subscriptionKey struct{}

// subscriptionOf is the subscription that a resolver works for.
func subscriptionOf(ctx context.Context) *subscription {
	s, _ := ctx.Value(subscriptionKey{}).(*subscription)
	return s
}

// send hands over a change when there is a turn to resolve it; false when the subscription has ended.
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

// resolved gives the turn of a change back.
func (s *subscription) resolved() {
	select {
	case release := <-s.taken:
		release()
	default:
	}
}

// follow answers a subscription; the error that it ends with, if any, is its last answer. It ends when the asker's
// token does, and when the tenant is suspended.
func (h *handler) follow(ctx context.Context, a asker, next graphql.OperationHandler) graphql.ResponseHandler {
	s := &subscription{handler: h, complexity: complexityOf(ctx), taken: make(chan func(), 1)}
	following, stop := context.WithCancelCause(context.WithValue(ctx, subscriptionKey{}, s))
	release := func() { stop(nil) }
	if expires := a.principal.Expires(); !expires.IsZero() {
		following, release = context.WithDeadlineCause(following, expires, errExpired)
	}
	if h.settings.Tenants != nil {
		go h.watchTenant(following, a.tenant, stop)
	}
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

// watchTenant ends a subscription when its tenant is no longer active. While the registry can't be asked it goes on.
func (h *handler) watchTenant(ctx context.Context, tenant usecase.Tenant, stop context.CancelCauseFunc) {
	tick := time.NewTicker(tenantCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := h.settings.Tenants.Admit(ctx, tenant)
		if refusal := (*access.Refusal)(nil); errors.As(err, &refusal) {
			stop(err)
			return
		}
	}
}

const tenantCheck = time.Second // between two looks at the registry for a subscription

var errExpired = &refusal{codeUnauthenticated, "the token has expired; subscribe again with a new one"}
