// Package archivetest has what tests of archives share: [Eager] is a store whose events are moved as early as they can
// be, and [Export] writes what DynamoDB would export to S3.
package archivetest

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/archive"
)

// Eager returns the store with an archive, into which all but the last event of an aggregate is moved before each time
// that events are read. moved counts them.
func Eager(t *testing.T, store es.Store, moved *atomic.Int64) es.Store {
	t.Helper()
	return eager{&archive.Store{Store: store, Folder: t.TempDir()}, moved}
}

type eager struct {
	*archive.Store
	moved *atomic.Int64
}

// move moves nothing of an aggregate whose head or journal is wrong.
func (e eager) move(ctx context.Context, id es.AggregateID) {
	ctx = context.WithoutCancel(ctx)
	if _, err := e.Archive(ctx, id, time.Now()); err == nil {
		removed, _ := e.Remove(ctx, id, time.Now())
		e.moved.Add(int64(removed))
	}
}

func (e eager) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	e.move(ctx, id)
	return e.Store.Entries(ctx, id, after, upTo)
}

func (e eager) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	e.move(ctx, id)
	return e.Store.EntriesAt(ctx, id, seqNrs)
}
