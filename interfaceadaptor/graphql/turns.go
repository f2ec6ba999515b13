package graphql

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/semaphore"

	"example.com/threads/es"
)

// turns limits the total complexity of operations that are resolved at once: an answer needs several times its size in
// memory until it is encoded. Operations beyond the limit wait in order of arrival. A turn ends before the answer is
// sent, so slow clients do not delay others.
type turns struct {
	room  *semaphore.Weighted
	total int64
}

func newTurns(total int) *turns {
	return &turns{room: semaphore.NewWeighted(int64(total)), total: int64(total)}
}

// take waits for a turn for an operation of this complexity, until ctx ends.
func (t *turns) take(ctx context.Context, complexity int) (release func(), err error) {
	weight := min(max(int64(complexity), 1), t.total)
	if err := t.room.Acquire(ctx, weight); err != nil {
		return nil, es.ErrUnavailable
	}
	return sync.OnceFunc(func() { t.room.Release(weight) }), nil
}

// encode writes an answer as JSON within the memory that its client may use. Call release after sending it. If that is
// used up, encoded is an error instead of the answer, and whole is false.
func (h *handler) encode(ctx context.Context, answer *graphql.Response) (encoded []byte, release func(), whole bool) {
	encoded = h.engine.encode(ctx, answer)
	release, err := askerOf(ctx).guard.Hold(len(encoded))
	if err != nil {
		return h.engine.encode(ctx, h.presenter.response(ctx, err)), func() {}, false
	}
	return encoded, release, true
}

const complexityStat = "complexity"

// complexityOf returns the complexity that the limits measured.
func complexityOf(ctx context.Context) int {
	complexity, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(complexityStat).(int)
	return complexity
}
