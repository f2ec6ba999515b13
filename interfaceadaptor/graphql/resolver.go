package graphql

import (
	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/query"
)

// resolver resolves the fields that have to ask for something.
type resolver struct {
	queries   *query.Queries
	history   *query.History
	presenter presenter
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

// parseID reads an id that was given as the argument of the given name.
func parseID[T any](argument, text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, &ident.InvalidError{Field: argument, Reason: "must be a ULID of 26 characters"}
	}
	return id, nil
}

// parseAfter reads the id of the last row seen; none is zero.
func parseAfter[T any](after *string) (ident.Of[T], error) {
	if after == nil {
		return ident.Of[T]{}, nil
	}
	return parseID[T]("after", *after)
}

// limit is the length of a page: what is asked for, or otherwise what is usual.
func limit(argument string, asked *int, usual int) (int, error) {
	if asked == nil {
		return usual, nil
	}
	return query.ParseLimit(argument, *asked)
}

// cursor reads a cursor; none is no position.
func cursor(kind model.ListKind, argument string, text *string) (query.Position, error) {
	if text == nil {
		return query.Position{}, nil
	}
	return model.DecodeCursor(kind, argument, *text)
}

// forward is the page behind a cursor.
func forward(kind model.ListKind, first *int, after *string) (query.Range, error) {
	n, err := limit("first", first, defaultPage)
	if err != nil {
		return query.Range{}, err
	}
	position, err := cursor(kind, "after", after)
	return query.Range{After: position, Limit: n}, err
}
