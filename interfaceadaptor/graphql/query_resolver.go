package graphql

import (
	"context"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// defaultMessages is the default page size of getMessages.
const defaultMessages = 100

// GetThread resolves Query.getThread.
func (r Resolver) GetThread(ctx context.Context, threadID, userAccountID string) (model.Thread, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return model.Thread{}, err
	}
	found, err := r.queries.Thread(ctx, viewer, chat.ThreadID(key))
	return r.thread(viewer, found, err)
}

// GetThreadByCode resolves Query.getThreadByCode.
func (r Resolver) GetThreadByCode(ctx context.Context, code, userAccountID string) (model.Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	if err != nil {
		return model.Thread{}, err
	}
	parsed, err := thread.ParseCode(code)
	if err != nil {
		return model.Thread{}, err
	}
	found, err := r.queries.ThreadByCode(ctx, viewer, parsed)
	return r.thread(viewer, found, err)
}

func (r Resolver) thread(viewer query.Viewer, found query.Thread, err error) (model.Thread, error) {
	return model.NewThread(found, model.NewSiblings(r.queries, viewer.Tenant, found)), err
}

// GetThreads resolves Query.getThreads.
func (r Resolver) GetThreads(ctx context.Context, userAccountID string, first *int, after *string) ([]model.Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	if err != nil {
		return nil, err
	}
	n, last, err := pageAfter[thread.Thread](first, after, defaultPage)
	if err != nil {
		return nil, err
	}
	found, err := r.queries.ThreadsAfter(ctx, viewer, n, last)
	siblings := model.NewSiblings(r.queries, viewer.Tenant, found...)
	return each(found, func(t query.Thread) model.Thread { return model.NewThread(t, siblings) }), err
}

// GetMember resolves Query.getMember.
func (r Resolver) GetMember(ctx context.Context, threadID, userAccountID string) (model.Member, error) {
	member, key, err := r.memberAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return model.Member{}, err
	}
	found, err := r.queries.Member(ctx, key, member)
	return model.NewMembers(r.queries, key.Tenant, found)[0], err
}

// GetMembers resolves Query.getMembers.
func (r Resolver) GetMembers(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]model.Member, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	n, last, err := pageAfter[thread.Member](first, after, defaultPage)
	if err != nil {
		return nil, err
	}
	found, err := r.queries.MembersAfter(ctx, viewer, chat.ThreadID(key), n, last)
	return model.NewMembers(r.queries, viewer.Tenant, found...), err
}

// GetMessage resolves Query.getMessage.
func (r Resolver) GetMessage(ctx context.Context, messageID, userAccountID string) (model.Message, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	if err != nil {
		return model.Message{}, err
	}
	id, err := ParseID[thread.Message]("messageId", messageID)
	if err != nil {
		return model.Message{}, err
	}
	found, err := r.queries.Message(ctx, viewer, id)
	return model.NewMessages(r.queries, viewer.Tenant, found)[0], err
}

// GetMessages resolves Query.getMessages.
func (r Resolver) GetMessages(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]model.Message, error) {
	viewer, key, err := viewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	n, last, err := pageAfter[thread.Message](first, after, defaultMessages)
	if err != nil {
		return nil, err
	}
	found, err := r.queries.MessagesAfter(ctx, viewer, chat.ThreadID(key), n, last)
	return model.NewMessages(r.queries, viewer.Tenant, found...), err
}

// Threads resolves Query.threads.
func (r Resolver) Threads(ctx context.Context, userAccountID string, first *int, after *string, last *int, before *string) (model.ThreadConnection, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	if err != nil {
		return model.ThreadConnection{}, err
	}
	asked, err := EitherWay(model.ThreadList, first, after, last, before)
	if err != nil {
		return model.ThreadConnection{}, err
	}
	page, err := r.queries.Threads(ctx, viewer, asked)
	siblings := model.NewSiblings(r.queries, viewer.Tenant, page.Items...)
	return model.NewConnection(model.ThreadList, page, func(t query.Thread) model.Thread { return model.NewThread(t, siblings) }), err
}

func each[S, T any](items []S, convert func(S) T) []T {
	converted := make([]T, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}
