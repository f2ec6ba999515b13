package graphql

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// ViewerOf returns the viewer that an operation names, if the principal may act for it. The default is the principal's
// account.
func ViewerOf(ctx context.Context, userAccountID string) (query.Viewer, error) {
	a := askerOf(ctx)
	named, err := a.named(userAccountID)
	if err != nil {
		return query.Viewer{}, err
	}
	user, err := a.For(named)
	return query.Viewer{Tenant: a.Tenant, User: user}, err
}

// OnlyOperators returns an error unless an operator of the service asks.
func OnlyOperators(ctx context.Context) error {
	if !askerOf(ctx).May(admission.Operate) {
		return errOperators
	}
	return nil
}

// named reads the argument userAccountId, which a known principal may leave out.
func (a asker) named(userAccountID string) (thread.UserID, error) {
	leftOut := userAccountID == "" || userAccountID == "null" // gqlgen reads null as "null"
	if a.IsKnown() && leftOut {
		return thread.UserID{}, nil
	}
	return ParseID[ident.UserAccount]("userAccountId", userAccountID)
}

// viewerAndThread returns the viewer and the thread that an operation names.
func viewerAndThread(ctx context.Context, userAccountID, threadID string) (query.Viewer, es.AggregateID, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	if err != nil {
		return viewer, es.AggregateID{}, err
	}
	key, err := threadKey(viewer.Tenant, threadID)
	return viewer, key, err
}

// memberAndThread returns the member that an operation asks for: any member of a thread that the principal may read.
// One that is not known may read every thread.
func (r Resolver) memberAndThread(ctx context.Context, userAccountID, threadID string) (thread.UserID, es.AggregateID, error) {
	a := askerOf(ctx)
	key, err := threadKey(a.Tenant, threadID)
	if err != nil {
		return thread.UserID{}, key, err
	}
	member, err := a.named(userAccountID)
	if err != nil || !a.IsKnown() {
		return member, key, err
	}
	if member.IsZero() {
		member = a.Account
	}
	_, err = r.queries.Thread(ctx, query.Viewer{Tenant: a.Tenant, User: a.Account}, chat.ThreadID(key))
	return member, key, err
}

func threadKey(tenant es.Tenant, threadID string) (es.AggregateID, error) {
	id, err := ParseID[thread.Thread]("threadId", threadID)
	return chat.ThreadKey(tenant, id), err
}
