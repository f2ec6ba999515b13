package graphql

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/chat"
)

// ThreadHistory resolves Query.threadHistory.
func (r Resolver) ThreadHistory(
	ctx context.Context, threadID, userAccountID string, first *int, after *string, last *int, before *string,
) (model.HistoryConnection, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return model.HistoryConnection{}, err
	}
	asked, err := EitherWay(model.HistoryList, first, after, last, before)
	if err != nil {
		return model.HistoryConnection{}, err
	}
	page, err := r.history.Entries(ctx, viewer, chat.ThreadID(key), asked)
	return model.NewConnection(model.HistoryList, page, model.NewHistoryEntry), err
}

// AccountHistory resolves Query.accountHistory.
func (r Resolver) AccountHistory(
	ctx context.Context, accountID string, first *int, after *string, last *int, before *string,
) (model.HistoryConnection, error) {
	a := askerOf(ctx)
	id, err := ParseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return model.HistoryConnection{}, err
	}
	if _, other := a.For(id); other != nil && !a.May(admission.Operate) {
		return model.HistoryConnection{}, errOperators
	}
	asked, err := EitherWay(model.HistoryList, first, after, last, before)
	if err != nil {
		return model.HistoryConnection{}, err
	}
	page, err := r.history.AccountEntries(ctx, a.Tenant, id, asked)
	return model.NewConnection(model.HistoryList, page, model.NewHistoryEntry), err
}

// ThreadAt resolves Query.threadAt.
func (r Resolver) ThreadAt(ctx context.Context, threadID, userAccountID string, version int) (model.ThreadState, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return model.ThreadState{}, err
	}
	state, err := r.history.At(ctx, viewer, chat.ThreadID(key), version)
	return model.NewThreadState(state), err
}

// ThreadStateFields resolves the lists inside an earlier state of a thread.
type ThreadStateFields struct{}

// Members resolves ThreadState.members.
func (ThreadStateFields) Members(ctx context.Context, s *model.ThreadState) ([]model.StateMember, error) {
	members, err := s.State.Members(ctx)
	return each(members, model.NewStateMember), err
}

// Messages resolves ThreadState.messages.
func (ThreadStateFields) Messages(ctx context.Context, s *model.ThreadState, first *int, after *string) ([]model.StateMessage, error) {
	n, last, err := pageAfter[thread.Message](first, after, defaultPage)
	if err != nil {
		return nil, err
	}
	messages, err := s.State.Messages(ctx, n, last)
	return each(messages, model.NewStateMessage), err
}
