package graphql

import (
	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tenants"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/query"
)

// resolver holds what the resolvers of fields need.
type resolver struct {
	queries   *query.Queries
	history   *query.History
	presenter presenter
	tasks     tasks.Reader
	registry  tenants.Reader
}

var _ generated.ResolverRoot = resolver{}

// Query implements [generated.ResolverRoot].
func (r resolver) Query() generated.QueryResolver { return queryResolver{r} }

// Thread implements [generated.ResolverRoot].
func (r resolver) Thread() generated.ThreadResolver { return threadResolver{} }

// Member implements [generated.ResolverRoot].
func (r resolver) Member() generated.MemberResolver { return memberResolver{} }

// Message implements [generated.ResolverRoot].
func (r resolver) Message() generated.MessageResolver { return messageResolver{} }

// ThreadState implements [generated.ResolverRoot].
func (r resolver) ThreadState() generated.ThreadStateResolver { return stateResolver{} }

// Subscription implements [generated.ResolverRoot].
func (r resolver) Subscription() generated.SubscriptionResolver { return subscriptionResolver{r} }

// parseID reads the id in the named argument.
func parseID[T any](argument, text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, &ident.InvalidError{Field: argument, Reason: "must be a ULID of 26 characters"}
	}
	return id, nil
}

// pageAfter reads the length of a page, and the id of the last row of the previous page; zero: there is none.
func pageAfter[T any](first *int, after *string, usual int) (length int, last ident.Of[T], err error) {
	if length, err = limit("first", first, usual); err != nil || after == nil {
		return length, last, err
	}
	last, err = parseID[T]("after", *after)
	return length, last, err
}

// limit returns the length of a page: the requested one or the default.
func limit(argument string, asked *int, usual int) (int, error) {
	if asked == nil {
		return usual, nil
	}
	return query.ParseLimit(argument, *asked)
}

// cursor reads a cursor; without one, the position is zero.
func cursor(kind model.ListKind, argument string, text *string) (query.Position, error) {
	if text == nil {
		return query.Position{}, nil
	}
	return model.DecodeCursor(kind, argument, *text)
}

// forward returns the range after a cursor.
func forward(kind model.ListKind, first *int, after *string) (query.Range, error) {
	n, err := limit("first", first, defaultPage)
	if err != nil {
		return query.Range{}, err
	}
	position, err := cursor(kind, "after", after)
	return query.Range{After: position, Limit: n}, err
}
