package graphql

import (
	"cmp"
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Thread is the schema's Thread: a row of usecase/query beside fields that the schema names or writes otherwise.
type Thread struct {
	query.Thread
	ID, OwnerID, CreatedBy, UpdatedBy string
	Code                              *string // nil: the thread was created before codes existed

	list *threadList
}

type Member struct {
	query.Member
	ID, ThreadID, UserAccountID, CreatedBy, UpdatedBy string

	accounts *accounts
}

type Message struct {
	query.Message
	ID, ThreadID, UserAccountID, CreatedBy, UpdatedBy string

	accounts *accounts
}

// The schema's connections of threads, members and messages, and their edges.
type (
	ThreadConnection  = Connection[Thread]
	ThreadEdge        = Edge[Thread]
	MemberConnection  = Connection[Member]
	MemberEdge        = Edge[Member]
	MessageConnection = Connection[Message]
	MessageEdge       = Edge[Message]
)

const (
	threadCursors  Cursors = "threads"
	memberCursors  Cursors = "members"
	messageCursors Cursors = "messages"
)

func (r Resolver) GetThread(ctx context.Context, threadID, userAccountID string) (Thread, error) {
	viewer, id, err := ViewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return Thread{}, err
	}
	found, err := r.Queries.Thread(ctx, viewer, id)
	return threadsOf(r.Queries, viewer.Tenant)(found), err
}

func (r Resolver) GetThreadByCode(ctx context.Context, code, userAccountID string) (Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	parsed, codeErr := thread.ParseCode(code)
	if err := cmp.Or(err, codeErr); err != nil {
		return Thread{}, err
	}
	found, err := r.Queries.ThreadByCode(ctx, viewer, parsed)
	return threadsOf(r.Queries, viewer.Tenant)(found), err
}

func (r Resolver) GetThreads(ctx context.Context, userAccountID string, first *int, after *string) ([]Thread, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	page, pageErr := AfterID[thread.Thread](first, after, DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := r.Queries.Threads(ctx, viewer, page)
	return each(found.Items, threadsOf(r.Queries, viewer.Tenant)), err
}

func (r Resolver) Threads(
	ctx context.Context, userAccountID string, first *int, after *string, last *int, before *string,
) (ThreadConnection, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	asked, pageErr := EitherWay(threadCursors, first, after, last, before)
	if err := cmp.Or(err, pageErr); err != nil {
		return ThreadConnection{}, err
	}
	page, err := r.Queries.Threads(ctx, viewer, asked)
	return NewConnection(threadCursors, page, threadsOf(r.Queries, viewer.Tenant)), err
}

// GetMember resolves Query.getMember: any member of a thread that the principal may read; who may name anyone reads
// all.
func (r Resolver) GetMember(ctx context.Context, threadID, userAccountID string) (Member, error) {
	a := askerOf(ctx)
	id, idErr := ParseID[thread.Thread]("threadId", threadID)
	user, err := a.named(userAccountID)
	if err = cmp.Or(idErr, err); err == nil && a.IsKnown() {
		user = cmp.Or(user, a.Account)
	}
	if err == nil && !a.NamesAnyone() {
		_, err = r.Queries.Thread(ctx, query.Viewer{Tenant: a.Tenant, User: a.Account}, id)
	}
	if err != nil {
		return Member{}, err
	}
	found, err := r.Queries.Member(ctx, a.Tenant, id, user)
	return membersOf(&accounts{from: r.Queries, tenant: a.Tenant})(found), err
}

func (r Resolver) GetMembers(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]Member, error) {
	viewer, id, err := ViewerAndThread(ctx, userAccountID, threadID)
	page, pageErr := AfterID[thread.Member](first, after, DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := query.InThread(ctx, r.Queries, viewer, id, page, r.Queries.Members)
	return each(found, membersOf(&accounts{from: r.Queries, tenant: viewer.Tenant})), err
}

func (r Resolver) GetMessage(ctx context.Context, messageID, userAccountID string) (Message, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	id, idErr := ParseID[thread.Message]("messageId", messageID)
	if err := cmp.Or(err, idErr); err != nil {
		return Message{}, err
	}
	found, err := r.Queries.Message(ctx, viewer, id)
	return messagesOf(&accounts{from: r.Queries, tenant: viewer.Tenant})(found), err
}

func (r Resolver) GetMessages(ctx context.Context, threadID, userAccountID string, first *int, after *string) ([]Message, error) {
	viewer, id, err := ViewerAndThread(ctx, userAccountID, threadID)
	page, pageErr := AfterID[thread.Message](first, after, 2*DefaultPage)
	if err := cmp.Or(err, pageErr); err != nil {
		return nil, err
	}
	found, err := query.InThread(ctx, r.Queries, viewer, id, page, r.Queries.Messages)
	return each(found, messagesOf(&accounts{from: r.Queries, tenant: viewer.Tenant})), err
}

func (r Resolver) ThreadChanged(ctx context.Context, threadID, userAccountID string) (<-chan Thread, error) {
	viewer, id, err := ViewerAndThread(ctx, userAccountID, threadID)
	if err != nil {
		return nil, err
	}
	return Stream(ctx, r.Queries.ThreadChanges(ctx, viewer, id), func(changed query.Thread) Thread {
		return threadsOf(stillSeen{r.Queries, viewer, id}, viewer.Tenant)(changed)
	}), nil
}

// stillSeen reads the lists of a thread if the viewer sees it now: a change may have waited for a slow client.
type stillSeen struct {
	*query.Queries
	viewer query.Viewer
	id     thread.ID
}

func (s stillSeen) Members(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
	if _, err := s.Thread(ctx, s.viewer, s.id); err != nil {
		return nil, err
	}
	return s.Queries.Members(ctx, tenant, threads, page)
}

func (s stillSeen) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	if _, err := s.Thread(ctx, s.viewer, s.id); err != nil {
		return nil, err
	}
	return s.Queries.Messages(ctx, tenant, threads, page)
}

// threadList are the threads of one list in an answer. The first access to the members or messages of one reads those
// of all in one statement. Unlike a data loader, it never waits for keys.
type threadList struct {
	from     query.Reader
	tenant   es.Tenant
	ids      []thread.ID
	members  onceEach[query.Range, map[thread.ID]MemberConnection]
	messages onceEach[query.Range, map[thread.ID]MessageConnection]
}

// threadsOf returns what converts the threads of one list, and adds each to the list.
func threadsOf(from query.Reader, tenant es.Tenant) func(query.Thread) Thread {
	list := &threadList{from: from, tenant: tenant}
	return func(t query.Thread) Thread {
		list.ids = append(list.ids, t.ID)
		shown := Thread{
			Thread: t, ID: t.ID.String(), OwnerID: t.Owner.String(), CreatedBy: t.CreatedBy.String(), UpdatedBy: t.UpdatedBy.String(), list: list,
		}
		if code := t.Code.String(); code != "" {
			shown.Code = &code
		}
		return shown
	}
}

func (t Thread) Members(ctx context.Context, first *int, after *string) (MemberConnection, error) {
	page, err := Forward(memberCursors, first, after)
	if err != nil {
		return MemberConnection{}, err
	}
	all, err := t.list.members.get(page, func() (map[thread.ID]MemberConnection, error) {
		pages, err := t.list.from.Members(ctx, t.list.tenant, t.list.ids, page)
		convert := membersOf(&accounts{from: t.list.from, tenant: t.list.tenant})
		return connections(memberCursors, pages, convert), err
	})
	return all[t.Thread.ID], err
}

func (t Thread) Messages(ctx context.Context, first *int, after *string, last *int, before *string) (MessageConnection, error) {
	page, err := EitherWay(messageCursors, first, after, last, before)
	if err != nil {
		return MessageConnection{}, err
	}
	all, err := t.list.messages.get(page, func() (map[thread.ID]MessageConnection, error) {
		pages, err := t.list.from.Messages(ctx, t.list.tenant, t.list.ids, page)
		convert := messagesOf(&accounts{from: t.list.from, tenant: t.list.tenant})
		return connections(messageCursors, pages, convert), err
	})
	return all[t.Thread.ID], err
}

// membersOf returns what converts the members of one level of an answer, and adds each to users, who are read together.
func membersOf(users *accounts) func(query.Member) Member {
	return func(m query.Member) Member {
		users.ids = append(users.ids, m.User)
		return Member{
			Member: m, ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.User.String(),
			CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), accounts: users,
		}
	}
}

// messagesOf is membersOf for messages.
func messagesOf(senders *accounts) func(query.Message) Message {
	return func(m query.Message) Message {
		senders.ids = append(senders.ids, m.Sender)
		return Message{
			Message: m, ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.Sender.String(),
			CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), accounts: senders,
		}
	}
}

func (m Member) Account(ctx context.Context) (*Account, error) { return m.accounts.read(ctx, m.User) }

// Account resolves Message.sender.
func (m Message) Account(ctx context.Context) (*Account, error) {
	return m.accounts.read(ctx, m.Sender)
}

// MarshalRole writes the enum Role.
func MarshalRole(role thread.Role) graphql.Marshaler {
	if role == thread.RoleAdmin {
		return graphql.MarshalString("ADMIN")
	}
	return graphql.MarshalString("MEMBER")
}

// UnmarshalRole always fails.
func UnmarshalRole(any) (thread.Role, error) { return thread.Role{}, errNoArgument }

func connections[S query.Positioned, T any](cursors Cursors, pages map[thread.ID]query.Page[S], node func(S) T) map[thread.ID]Connection[T] {
	converted := make(map[thread.ID]Connection[T], len(pages))
	for id, page := range pages {
		converted[id] = NewConnection(cursors, page, node)
	}
	return converted
}

// ViewerAndThread reads the arguments userAccountId and threadId.
func ViewerAndThread(ctx context.Context, userAccountID, threadID string) (query.Viewer, thread.ID, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	id, idErr := ParseID[thread.Thread]("threadId", threadID)
	return viewer, id, cmp.Or(err, idErr)
}

// AfterID returns the range after the row with an id.
func AfterID[T any](first *int, after *string, usual int) (page query.Range, err error) {
	if page.Limit, err = limit("first", first, usual); err != nil || after == nil {
		return page, err
	}
	last, err := ParseID[T]("after", *after)
	page.AfterID = last.String()
	return page, err
}

// onceEach calls a function once for each key.
type onceEach[K comparable, V any] struct{ known sync.Map }

func (o *onceEach[K, V]) get(key K, read func() (V, error)) (V, error) {
	once, started := o.known.Load(key) // usually it is known, and nothing is allocated
	if !started {
		once, _ = o.known.LoadOrStore(key, sync.OnceValues(read))
	}
	return once.(func() (V, error))()
}
