package graphql

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// The schema's types are the rows of usecase/query. Fields that the schema names or writes otherwise are beside them.

// Thread is the schema's Thread.
type Thread struct {
	query.Thread
	ID, OwnerID, CreatedBy, UpdatedBy string
	Code                              *string // nil: the thread was created before codes existed

	list *threadList
}

// Member is the schema's Member.
type Member struct {
	query.Member
	ID, ThreadID, UserAccountID, CreatedBy, UpdatedBy string

	accounts *accounts
}

// Message is the schema's Message.
type Message struct {
	query.Message
	ID, ThreadID, UserAccountID, CreatedBy, UpdatedBy string

	accounts *accounts
}

// Account is the schema's Account.
type Account struct {
	query.Account
	ID string
}

// ThreadState is the schema's ThreadState.
type ThreadState struct{ query.ThreadState }

// StateMember is the schema's StateMember.
type StateMember Member

// StateMessage is the schema's StateMessage.
type StateMessage Message

// threadList are the threads of one list in an answer. The first access to a thread's members or messages reads those
// of all threads in one statement; the other threads use its result. Unlike a data loader, which collects keys for a
// while, it never waits and always reads once.
type threadList struct {
	from     query.Reader
	tenant   es.Tenant
	ids      []thread.ID
	members  onceEach[query.Range, map[thread.ID]MemberConnection]
	messages onceEach[query.Range, map[thread.ID]MessageConnection]
}

// newThread converts the threads of one list.
func newThread(from query.Reader, tenant es.Tenant) func(query.Thread) Thread {
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

// Members resolves Thread.members.
func (t Thread) Members(ctx context.Context, first *int, after *string) (MemberConnection, error) {
	page, err := Forward(memberCursors, first, after)
	if err != nil {
		return MemberConnection{}, err
	}
	all, err := t.list.members.get(page, func() (map[thread.ID]MemberConnection, error) {
		pages, err := t.list.from.Members(ctx, t.list.tenant, t.list.ids, page)
		convert := newMember(&accounts{from: t.list.from, tenant: t.list.tenant})
		return connections(memberCursors, pages, convert), err
	})
	return all[t.Thread.ID], err
}

// Messages resolves Thread.messages.
func (t Thread) Messages(ctx context.Context, first *int, after *string, last *int, before *string) (MessageConnection, error) {
	page, err := EitherWay(messageCursors, first, after, last, before)
	if err != nil {
		return MessageConnection{}, err
	}
	all, err := t.list.messages.get(page, func() (map[thread.ID]MessageConnection, error) {
		pages, err := t.list.from.Messages(ctx, t.list.tenant, t.list.ids, page)
		convert := newMessage(&accounts{from: t.list.from, tenant: t.list.tenant})
		return connections(messageCursors, pages, convert), err
	})
	return all[t.Thread.ID], err
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

// newMember converts the members of one level of an answer, whose accounts are read together.
func newMember(users *accounts) func(query.Member) Member {
	return func(m query.Member) Member {
		users.ids = append(users.ids, m.User)
		return Member{
			Member: m, ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.User.String(),
			CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), accounts: users,
		}
	}
}

// newMessage is newMember for messages.
func newMessage(senders *accounts) func(query.Message) Message {
	return func(m query.Message) Message {
		senders.ids = append(senders.ids, m.Sender)
		return Message{
			Message: m, ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.Sender.String(),
			CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), accounts: senders,
		}
	}
}

// Account resolves Member.account.
func (m Member) Account(ctx context.Context) (*Account, error) { return m.accounts.read(ctx, m.User) }

// Account resolves Message.sender.
func (m Message) Account(ctx context.Context) (*Account, error) {
	return m.accounts.read(ctx, m.Sender)
}

// accounts are the accounts of all rows on one level of an answer. The first access reads all of them in one statement.
type accounts struct {
	from   query.Reader
	tenant es.Tenant
	ids    []account.ID
	found  onceEach[struct{}, map[account.ID]query.Account]
}

// read returns an account; nil: it does not exist.
func (a *accounts) read(ctx context.Context, id account.ID) (*Account, error) {
	found, err := a.found.get(struct{}{}, func() (map[account.ID]query.Account, error) { return a.from.Accounts(ctx, a.tenant, a.ids) })
	row, exists := found[id]
	if err != nil || !exists {
		return nil, err
	}
	return &Account{row, id.String()}, nil
}

// onceEach calls a function once for each key.
type onceEach[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]func() (V, error)
}

func (o *onceEach[K, V]) get(key K, read func() (V, error)) (V, error) {
	o.mu.Lock()
	once, started := o.known[key]
	if !started {
		once = sync.OnceValues(read)
		if o.known == nil {
			o.known = map[K]func() (V, error){}
		}
		o.known[key] = once
	}
	o.mu.Unlock()
	return once()
}

func each[S, T any](items []S, convert func(S) T) []T {
	converted := make([]T, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}

// errNoArgument is the error of reading a scalar that no argument in the schema has.
var errNoArgument = errors.New("this type is never an argument")

// MarshalTime writes the scalar Time.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, t.UTC().Format(`"2006-01-02T15:04:05.000000Z"`))
	})
}

// UnmarshalTime always fails.
func UnmarshalTime(any) (time.Time, error) { return time.Time{}, errNoArgument }

// MarshalJSON writes the scalar JSON: a value that is already encoded.
func MarshalJSON(encoded []byte) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(encoded) })
}

// UnmarshalJSON always fails.
func UnmarshalJSON(any) ([]byte, error) { return nil, errNoArgument }

// MarshalRole writes the enum Role.
func MarshalRole(role thread.Role) graphql.Marshaler {
	if role == thread.RoleAdmin {
		return graphql.MarshalString("ADMIN")
	}
	return graphql.MarshalString("MEMBER")
}

// UnmarshalRole always fails.
func UnmarshalRole(any) (thread.Role, error) { return thread.Role{}, errNoArgument }
