package model

import (
	"context"
	"sync"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

// Siblings are the threads of one list in one answer. The first of them whose members or messages are asked for reads
// those of all, in one statement; the others take theirs from it. Unlike a loader that collects keys for a while, this
// waits for nobody and always reads once.
type Siblings struct {
	members  shared[query.Member]
	messages shared[query.Message]
}

// Lists is where the lists of threads are read.
type Lists interface {
	MembersOf(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Member], error)
	MessagesOf(ctx context.Context, tenant usecase.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error)
}

// NewSiblings returns the siblings of the given threads.
func NewSiblings(lists Lists, tenant usecase.Tenant, threads ...query.Thread) *Siblings {
	ids := make([]thread.ID, len(threads))
	for i, t := range threads {
		ids[i] = t.ID
	}
	return &Siblings{
		members: shared[query.Member]{read: func(ctx context.Context, page query.Range) (map[thread.ID]query.Page[query.Member], error) {
			return lists.MembersOf(ctx, tenant, ids, page)
		}},
		messages: shared[query.Message]{read: func(ctx context.Context, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
			return lists.MessagesOf(ctx, tenant, ids, page)
		}},
	}
}

// Members is a page of the members of one of the threads.
func (s *Siblings) Members(ctx context.Context, id thread.ID, page query.Range) (query.Page[query.Member], error) {
	return s.members.of(ctx, id, page)
}

// Messages is a page of the messages of one of the threads.
func (s *Siblings) Messages(ctx context.Context, id thread.ID, page query.Range) (query.Page[query.Message], error) {
	return s.messages.of(ctx, id, page)
}

// shared reads each page once for all threads.
type shared[T any] struct {
	read func(context.Context, query.Range) (map[thread.ID]query.Page[T], error)

	mu    sync.Mutex
	pages map[query.Range]func() (map[thread.ID]query.Page[T], error)
}

func (s *shared[T]) of(ctx context.Context, id thread.ID, page query.Range) (query.Page[T], error) {
	s.mu.Lock()
	once, started := s.pages[page]
	if !started {
		once = sync.OnceValues(func() (map[thread.ID]query.Page[T], error) { return s.read(ctx, page) })
		if s.pages == nil {
			s.pages = map[query.Range]func() (map[thread.ID]query.Page[T], error){}
		}
		s.pages[page] = once
	}
	s.mu.Unlock()
	pages, err := once()
	return pages[id], err
}
