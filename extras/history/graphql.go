package history

import (
	"cmp"
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/usecase/query"
)

// The schema's connection of the events in a history, and its edges.
type (
	Connection = graphql.Connection[Entry]
	Edge       = graphql.Edge[Entry]
)

const cursors graphql.Cursors = "history"

// HistoryResolver resolves the fields of Query in history.graphqls.
type HistoryResolver struct{ *History }

func (r HistoryResolver) ThreadHistory(
	ctx context.Context, threadID, userAccountID string, first *int, after *string, last *int, before *string, upTo *int,
) (Connection, error) {
	viewer, id, err := graphql.ViewerAndThread(ctx, userAccountID, threadID)
	asked, pageErr := graphql.EitherWay(cursors, first, after, last, before)
	if err := cmp.Or(err, pageErr); err != nil {
		return Connection{}, err
	}
	if upTo != nil {
		if end := int64(max(*upTo, 0)) + 1; asked.Before.IsZero() || end < asked.Before.At {
			asked.Before = query.Position{At: end}
		}
	}
	return connection(r.Entries(ctx, viewer, id, asked))
}

func (r HistoryResolver) AccountHistory(
	ctx context.Context, accountID string, first *int, after *string, last *int, before *string,
) (Connection, error) {
	id, idErr := graphql.ParseID[ident.UserAccount]("accountId", accountID)
	viewer, err := graphql.ViewerOf(ctx, id.String())
	if err != nil {
		err = graphql.OnlyOperators(ctx)
	}
	asked, pageErr := graphql.EitherWay(cursors, first, after, last, before)
	if err := cmp.Or(idErr, err, pageErr); err != nil {
		return Connection{}, err
	}
	return connection(r.AccountEntries(ctx, viewer.Tenant, id, asked))
}

func connection(page query.Page[Entry], err error) (Connection, error) {
	return graphql.NewConnection(cursors, page, func(entry Entry) Entry { return entry }), err
}

func (r HistoryResolver) ThreadAt(ctx context.Context, threadID, userAccountID string, version int) (ThreadState, error) {
	viewer, id, err := graphql.ViewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return ThreadState{}, err
	}
	return r.At(ctx, viewer, id, version)
}
