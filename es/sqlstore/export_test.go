package sqlstore

import "context"

// Queue is what a source reads.
type Queue = queue

// Queue returns a reader of the queue.
func (g *Gateway) Queue() *Queue { return &queue{gateway: g} }

// Waiting returns how many changes wait for the next group.
func (g *Gateway) Waiting() int {
	w := g.writer.(*groupWriter)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting)
}

// Writing reports whether a group is being written.
func (g *Gateway) Writing() bool {
	w := g.writer.(*groupWriter)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.working != nil && len(w.waiting) == 0
}

// Totals are the running totals of a source.
type Totals struct{ Polls, Empty, Failures, Records, Skipped int64 }

// Totals returns the running totals.
func (s *Source) Totals() Totals {
	return Totals{s.polls.Load(), s.empty.Load(), s.failures.Load(), s.records.Load(), s.skipped.Load()}
}

// End returns the position of the last visible entry; 0 if there is none.
func (q *queue) End(ctx context.Context) (uint64, error) { return lastNumber(ctx, q.gateway.DB) }

// OnCommit has do called after each commit.
func (g *Gateway) OnCommit(do func()) {
	switch writer := g.writer.(type) {
	case *groupWriter:
		writer.onCommit = do
	case *transactionWriter:
		writer.onCommit = do
	}
}
