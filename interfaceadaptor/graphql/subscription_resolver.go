package graphql

import (
	"context"
	"iter"

	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

type subscriptionResolver struct{ resolver }

// ThreadChanged resolves Subscription.threadChanged.
func (r subscriptionResolver) ThreadChanged(ctx context.Context, threadID, userAccountID string) (<-chan model.Thread, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	return stream(ctx, r, r.queries.ThreadChanges(ctx, viewer, chat.ThreadID(key)), func(changed query.Thread) model.Thread {
		return model.NewThread(changed, model.NewSiblings(r.queries, viewer.Tenant, changed))
	}), nil
}

// stream sends changes to a subscription until they end. Its goroutine ends with ctx, which is the subscription's.
func stream[S, T any](ctx context.Context, r subscriptionResolver, changes iter.Seq2[S, error], form func(S) T) <-chan T {
	sub := subscriptionOf(ctx)
	sent := make(chan T)
	go func() {
		defer close(sent)
		for changed, err := range changes {
			if err != nil {
				sub.ended = r.presenter.present(ctx, resolverError{err})
				return
			}
			if !send(ctx, sub, sent, form(changed)) {
				return
			}
		}
	}()
	return sent
}
