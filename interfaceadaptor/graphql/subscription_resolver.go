package graphql

import (
	"context"

	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/chat"
)

type subscriptionResolver struct{ resolver }

// ThreadChanged resolves Subscription.threadChanged. The goroutine ends with ctx, which is the subscription's.
func (r subscriptionResolver) ThreadChanged(ctx context.Context, threadID, userAccountID string) (<-chan model.Thread, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	subscription := subscriptionOf(ctx)
	changes := make(chan model.Thread)
	go func() {
		defer close(changes)
		for changed, err := range r.queries.ThreadChanges(ctx, viewer, chat.ThreadID(key)) {
			if err != nil {
				subscription.ended = r.presenter.present(ctx, resolverError{err})
				return
			}
			if !send(ctx, subscription, changes, model.NewThread(changed, model.NewSiblings(r.queries, viewer.Tenant, changed))) {
				return
			}
		}
	}()
	return changes, nil
}
