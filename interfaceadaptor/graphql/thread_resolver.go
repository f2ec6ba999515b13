package graphql

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/query"
)

// ThreadFields resolves the lists inside a thread, in one read with those of all threads in the list.
type ThreadFields struct{}

// Members resolves Thread.members.
func (ThreadFields) Members(ctx context.Context, t *model.Thread, first *int, after *string) (model.MemberConnection, error) {
	asked, err := Forward(model.MemberList, first, after)
	if err != nil {
		return model.MemberConnection{}, err
	}
	page, accounts, err := t.Siblings.Members(ctx, t.Key, asked)
	return model.NewConnection(model.MemberList, page, func(m query.Member) model.Member { return model.NewMember(m, accounts) }), err
}

// Messages resolves Thread.messages.
func (ThreadFields) Messages(ctx context.Context, t *model.Thread, first *int, after *string, last *int, before *string) (model.MessageConnection, error) {
	asked, err := EitherWay(model.MessageList, first, after, last, before)
	if err != nil {
		return model.MessageConnection{}, err
	}
	page, accounts, err := t.Siblings.Messages(ctx, t.Key, asked)
	return model.NewConnection(model.MessageList, page, func(m query.Message) model.Message { return model.NewMessage(m, accounts) }), err
}

// EitherWay returns the page at the start or the end of a range between two cursors.
func EitherWay(kind model.ListKind, first *int, after *string, last *int, before *string) (query.Range, error) {
	if first != nil && last != nil {
		return query.Range{}, &ident.InvalidError{Field: "first and last", Reason: "exclude each other: set one of them"}
	}
	asked, err := Forward(kind, first, after)
	if err != nil {
		return query.Range{}, err
	}
	if last != nil {
		asked.Backward = true
		if asked.Limit, err = limit("last", last, defaultPage); err != nil {
			return query.Range{}, err
		}
	}
	asked.Before, err = cursor(kind, "before", before)
	return asked, err
}
