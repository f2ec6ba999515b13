package graphql

import (
	"cmp"
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Resolver resolves the core's fields of Query and Subscription.
type Resolver struct {
	queries *query.Queries
	history *query.History
}

// NewResolver returns the resolver over queries and history.
func NewResolver(queries *query.Queries, history *query.History) Resolver {
	return Resolver{queries, history}
}

// GetThread resolves Query.getThread.
func (r Resolver) GetThread(ctx context.Context, threadID, userAccountID string) (Thread, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return Thread{}, err
	}
	found, err := r.queries.Thread(ctx, viewer, id)
	return newThread(r.queries, viewer.Tenant)(found), err
}

// GetThreadByCode resolves Query.getThreadByCode.
func (r Resolver) GetThreadByCode(ctx context.Context, code, userAccountID string) (Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	parsed, codeErr := thread.ParseCode(code)
	if err := cmp.Or(err, codeErr); err != nil {
		return Thread{}, err
	}
	found, err := r.queries.ThreadByCode(ctx, viewer, parsed)
	return newThread(r.queries, viewer.Tenant)(found), err
}

// GetThreads resolves Query.getThreads.
func (r Resolver) GetThreads(ctx context.Context, userAccountID string, first *int, after *string) ([]Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	page, pageErr := pageAfter[thread.Thread](first, after, DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := r.queries.Threads(ctx, viewer, page)
	return each(found.Items, newThread(r.queries, viewer.Tenant)), err
}

// Threads resolves Query.threads.
func (r Resolver) Threads(
	ctx context.Context, userAccountID string, first *int, after *string, last *int, before *string,
) (ThreadConnection, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	asked, pageErr := EitherWay(threadCursors, first, after, last, before)
	if err := cmp.Or(err, pageErr); err != nil {
		return ThreadConnection{}, err
	}
	page, err := r.queries.Threads(ctx, viewer, asked)
	return NewConnection(threadCursors, page, newThread(r.queries, viewer.Tenant)), err
}

// GetMember resolves Query.getMember: any member of a thread that the principal may read. One that is not known may
// read every thread.
func (r Resolver) GetMember(ctx context.Context, threadID, userAccountID string) (Member, error) {
	a := askerOf(ctx)
	id, err := ParseID[thread.Thread]("threadId", threadID)
	if err != nil {
		return Member{}, err
	}
	user, err := a.named(userAccountID)
	if err == nil && a.IsKnown() {
		if user.IsZero() {
			user = a.Account
		}
		_, err = r.queries.Thread(ctx, query.Viewer{Tenant: a.Tenant, User: a.Account}, id)
	}
	if err != nil {
		return Member{}, err
	}
	found, err := r.queries.Member(ctx, chat.ThreadKey(a.Tenant, id), user)
	return newMember(&accounts{from: r.queries, tenant: a.Tenant})(found), err
}

// GetMembers resolves Query.getMembers.
func (r Resolver) GetMembers(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]Member, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	page, pageErr := pageAfter[thread.Member](first, after, DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := r.queries.MembersOf(ctx, viewer, id, page)
	return each(found, newMember(&accounts{from: r.queries, tenant: viewer.Tenant})), err
}

// GetMessage resolves Query.getMessage.
func (r Resolver) GetMessage(ctx context.Context, messageID, userAccountID string) (Message, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	id, idErr := ParseID[thread.Message]("messageId", messageID)
	if err := cmp.Or(err, idErr); err != nil {
		return Message{}, err
	}
	found, err := r.queries.Message(ctx, viewer, id)
	return newMessage(&accounts{from: r.queries, tenant: viewer.Tenant})(found), err
}

// GetMessages resolves Query.getMessages.
func (r Resolver) GetMessages(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]Message, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	page, pageErr := pageAfter[thread.Message](first, after, 2*DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := r.queries.MessagesOf(ctx, viewer, id, page)
	return each(found, newMessage(&accounts{from: r.queries, tenant: viewer.Tenant})), err
}

// GetAccount resolves Query.getAccount.
func (r Resolver) GetAccount(ctx context.Context, accountID string) (Account, error) {
	id, err := ParseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return Account{}, err
	}
	found, err := r.queries.Account(ctx, askerOf(ctx).Tenant, id)
	return Account{found, id.String()}, err
}

// ThreadHistory resolves Query.threadHistory.
func (r Resolver) ThreadHistory(
	ctx context.Context, threadID, userAccountID string, first *int, after *string, last *int, before *string,
) (HistoryConnection, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	asked, pageErr := EitherWay(historyCursors, first, after, last, before)
	if err := cmp.Or(err, pageErr); err != nil {
		return HistoryConnection{}, err
	}
	page, err := r.history.Entries(ctx, viewer, id, asked)
	return NewConnection(historyCursors, page, same), err
}

// AccountHistory resolves Query.accountHistory.
func (r Resolver) AccountHistory(
	ctx context.Context, accountID string, first *int, after *string, last *int, before *string,
) (HistoryConnection, error) {
	a := askerOf(ctx)
	id, err := ParseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return HistoryConnection{}, err
	}
	if _, other := a.For(id); other != nil && !a.May(admission.Operate) {
		return HistoryConnection{}, errOperators
	}
	asked, err := EitherWay(historyCursors, first, after, last, before)
	if err != nil {
		return HistoryConnection{}, err
	}
	page, err := r.history.AccountEntries(ctx, a.Tenant, id, asked)
	return NewConnection(historyCursors, page, same), err
}

func same(entry query.HistoryEntry) query.HistoryEntry { return entry }

// ThreadAt resolves Query.threadAt.
func (r Resolver) ThreadAt(ctx context.Context, threadID, userAccountID string, version int) (ThreadState, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return ThreadState{}, err
	}
	state, err := r.history.At(ctx, viewer, id, version)
	return ThreadState{state}, err
}

// ThreadChanged resolves Subscription.threadChanged.
func (r Resolver) ThreadChanged(ctx context.Context, threadID, userAccountID string) (<-chan Thread, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	return Stream(ctx, r.queries.ThreadChanges(ctx, viewer, id), func(changed query.Thread) Thread {
		return newThread(r.queries, viewer.Tenant)(changed)
	}), nil
}
