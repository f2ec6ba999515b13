package graphql

import (
	"cmp"
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

// ThreadState is the schema's ThreadState.
type ThreadState struct{ query.ThreadState }

// StateMember is the schema's StateMember.
type StateMember Member

// StateMessage is the schema's StateMessage.
type StateMessage Message

// The schema's connection of the events in a history, and its edges.
type (
	HistoryConnection = Connection[query.HistoryEntry]
	HistoryEdge       = Edge[query.HistoryEntry]
)

const historyCursors Cursors = "history"

// ThreadHistory resolves Query.threadHistory.
func (r Resolver) ThreadHistory(
	ctx context.Context, threadID, userAccountID string, first *int, after *string, last *int, before *string,
) (HistoryConnection, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	asked, pageErr := EitherWay(historyCursors, first, after, last, before)
	if err := cmp.Or(err, pageErr); err != nil {
		return HistoryConnection{}, err
	}
	page, err := r.History.Entries(ctx, viewer, id, asked)
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
	page, err := r.History.AccountEntries(ctx, a.Tenant, id, asked)
	return NewConnection(historyCursors, page, same), err
}

func same(entry query.HistoryEntry) query.HistoryEntry { return entry }

// ThreadAt resolves Query.threadAt.
func (r Resolver) ThreadAt(ctx context.Context, threadID, userAccountID string, version int) (ThreadState, error) {
	viewer, id, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return ThreadState{}, err
	}
	state, err := r.History.At(ctx, viewer, id, version)
	return ThreadState{state}, err
}

// Members resolves ThreadState.members.
func (s ThreadState) Members(ctx context.Context) ([]StateMember, error) {
	members, err := s.ThreadState.Members(ctx)
	convert := newMember(&accounts{})
	return each(members, func(m query.Member) StateMember { return StateMember(convert(m)) }), err
}

// Messages resolves ThreadState.messages.
func (s ThreadState) Messages(ctx context.Context, first *int, after *string) ([]StateMessage, error) {
	page, err := pageAfter[thread.Message](first, after, DefaultPage)
	if err != nil {
		return nil, err
	}
	messages, err := s.ThreadState.Messages(ctx, page.Limit, page.AfterID)
	convert := newMessage(&accounts{})
	return each(messages, func(m query.Message) StateMessage { return StateMessage(convert(m)) }), err
}
