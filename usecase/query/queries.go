// Package query answers questions about the read model: threads, their members and messages, as one viewer sees them.
// The GraphQL adapter calls [Queries], and interfaceadaptor/readmodel/queryreader implements [Reader] with SQL.
//
// The read model follows the journal with a delay. A [projection.Watcher] lets a query wait for the version in its
// client's token, and a subscription for the next version.
package query

import (
	"cmp"
	"context"
	"iter"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Reader reads the read model. It is safe for concurrent use. The number of SQL statements per call depends neither on
// the number of returned rows nor on their position in the list. Errors are those of the domain, or faults, or
// [es.ErrUnavailable], wrapped, if a retry may succeed. An AfterID that is not in the list is an [ident.InvalidError].
type Reader interface {
	ThreadReader  // extra:chat
	AccountReader // extra:chat
}

// Queries answers all queries of the read model: those of its [Reader], and those that wait or read more than once. It
// is safe for concurrent use.
type Queries struct {
	Reader
	watcher  *projection.Watcher
	settings Settings
	types    []Awaitable
}

// Settings of [Queries].
type Settings struct {
	// WaitTimeout limits how long a query waits for the versions of its tokens; default 2 s.
	WaitTimeout time.Duration
	// Waited is called after each wait for tokens, for metrics; it may be nil.
	Waited func(took time.Duration, err error)
}

// New returns queries on reader. watcher must run for [Queries.Await] and [Changes].
func New(reader Reader, watcher *projection.Watcher, settings Settings) *Queries {
	settings.WaitTimeout = cmp.Or(settings.WaitTimeout, 2*time.Second)
	q := &Queries{Reader: reader, watcher: watcher, settings: settings}
	q.types = q.awaitable()
	return q
}

const readTimeout = 5 * time.Second // for one read of a subscription

// Changes yields what read returns, then again after each change of the aggregate, until the first error or ctx's end.
func Changes[T any](ctx context.Context, q *Queries, key es.AggregateID, read func(context.Context) (T, uint64, error)) iter.Seq2[T, error] {
	within := func() (T, uint64, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		return read(ctx)
	}
	return func(yield func(T, error) bool) {
		for {
			seen, version, err := within()
			if ctx.Err() != nil || !yield(seen, err) || err != nil {
				return
			}
			if q.watcher.AwaitChange(ctx, key, version) != nil {
				return
			}
		}
	}
}
