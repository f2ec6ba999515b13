package model

import (
	"context"
	"sync"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Siblings are the threads of one list in an answer. The first access to a thread's members or messages reads those of
// all threads in one statement; the other threads use its result. Unlike a data loader, which collects keys for a
// while, it never waits and always reads once.
type Siblings struct {
	members  shared[query.Member]
	messages shared[query.Message]
}

// NewSiblings returns the siblings of a list of threads.
func NewSiblings(from query.Reader, tenant es.Tenant, threads ...query.Thread) *Siblings {
	ids := make([]thread.ID, len(threads))
	for i, t := range threads {
		ids[i] = t.ID
	}
	return &Siblings{
		members:  shared[query.Member]{read: readOf(from, tenant, ids, from.Members, userOf)},
		messages: shared[query.Message]{read: readOf(from, tenant, ids, from.Messages, senderOf)},
	}
}

// Members returns a page of a thread's members, and the accounts of all members read.
func (s *Siblings) Members(ctx context.Context, id thread.ID, page query.Range) (query.Page[query.Member], *Accounts, error) {
	return s.members.of(ctx, id, page)
}

// Messages returns a page of a thread's messages, and the accounts of all senders read.
func (s *Siblings) Messages(ctx context.Context, id thread.ID, page query.Range) (query.Page[query.Message], *Accounts, error) {
	return s.messages.of(ctx, id, page)
}

// shared reads each page once for all threads.
type shared[T any] struct {
	read func(context.Context, query.Range) (level[T], error)

	mu     sync.Mutex
	levels map[query.Range]func() (level[T], error)
}

// level is the same page of the lists of all threads, with the accounts in it.
type level[T any] struct {
	pages    map[thread.ID]query.Page[T]
	accounts *Accounts
}

func readOf[T any](
	accounts query.AccountReader, tenant es.Tenant, ids []thread.ID,
	list func(context.Context, es.Tenant, []thread.ID, query.Range) (map[thread.ID]query.Page[T], error), user func(T) account.ID,
) func(context.Context, query.Range) (level[T], error) {
	return func(ctx context.Context, page query.Range) (level[T], error) {
		pages, err := list(ctx, tenant, ids, page)
		var rows []T
		for _, page := range pages {
			rows = append(rows, page.Items...)
		}
		return level[T]{pages, accountsOf(accounts, tenant, rows, user)}, err
	}
}

func (s *shared[T]) of(ctx context.Context, id thread.ID, page query.Range) (query.Page[T], *Accounts, error) {
	s.mu.Lock()
	once, started := s.levels[page]
	if !started {
		once = sync.OnceValues(func() (level[T], error) { return s.read(ctx, page) })
		if s.levels == nil {
			s.levels = map[query.Range]func() (level[T], error){}
		}
		s.levels[page] = once
	}
	s.mu.Unlock()
	found, err := once()
	return found.pages[id], found.accounts, err
}
