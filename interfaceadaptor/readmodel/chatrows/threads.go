package chatrows

import (
	"context"
	"maps"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// threadRows is the [projection.Verifiable] handler of threads, whose rows are in three tables.
type threadRows struct{ es.AnyAggregate }

func (threadRows) RowsVersion() int { return chat.ThreadRowsVersion }

func (threadRows) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	rows := chat.RowsOf(events)
	return threadFold{rows}, load(ctx, tx, rows)
}

// load reads the rows whose keys are in rows, and removes the keys without a row.
func load(ctx context.Context, tx projection.Tx, rows chat.Rows) error {
	err := rowstore.Load(ctx, tx, Threads, rows.Threads, primaryOf)
	if err == nil {
		err = rowstore.Load(ctx, tx, Members, rows.Members, primaryOf)
	}
	if err == nil {
		err = rowstore.Load(ctx, tx, Messages, rows.Messages, primaryOf)
	}
	return err
}

func primaryOf[I any](key chat.RowKey[I]) [2]string {
	return [2]string{key.Tenant.String(), key.ID.String()}
}

// threadFold is the [projection.Fold] of the rows of one transaction, all of which are saved.
type threadFold struct{ chat.Rows }

func (f threadFold) Save(ctx context.Context, tx projection.Tx) error {
	err := rowstore.Save(ctx, tx, Threads, f.Threads)
	if err == nil {
		err = rowstore.Save(ctx, tx, Members, f.Members)
	}
	if err == nil {
		err = rowstore.Save(ctx, tx, Messages, f.Messages)
	}
	return err
}

func (threadRows) Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	err := partOf(Messages, key, "thread_id").Delete(ctx, tx)
	if err == nil {
		err = partOf(Members, key, "thread_id").Delete(ctx, tx)
	}
	if err == nil {
		err = partOf(Threads, key, "id").Delete(ctx, tx)
	}
	return err
}

// partOf returns the rows of a thread in a table with a column for the thread's id.
func partOf[R any](in table.Table[R], key es.AggregateID, owner string) rowstore.Part[R] {
	return rowstore.Part[R]{Key: key, Table: in, Where: "tenant_code = ? AND " + owner + " = ?", Args: []any{key.Tenant.String(), key.ID}}
}

var windowEvents uint64 = 20_000 // limits the members and messages that a shadow holds in memory

func (threadRows) Shadow(key es.AggregateID, after uint64) projection.Shadow {
	rows := chat.NewRows()
	rows.Window = chat.Window{After: after, UpTo: after + windowEvents}
	return &threadShadow{threadFold: threadFold{rows}, key: key}
}

// threadShadow is the [projection.Shadow] of the expected rows of a window of events. The first window has the thread's
// own row, too.
type threadShadow struct {
	threadFold
	key  es.AggregateID
	last uint64 // event
}

func (s *threadShadow) Apply(recorded projection.Event) error {
	s.last = recorded.SeqNr
	return s.Rows.Apply(recorded)
}

// A missing row of something deleted is no difference: it may have been pruned.
func (s *threadShadow) Compare(ctx context.Context, tx projection.Tx, tell func(projection.Difference)) (err error) {
	gone := s.Threads[chat.RowKey[thread.Thread]{Tenant: s.key.Tenant, ID: chat.ThreadID(s.key)}].Deleted
	if s.Window.After == 0 {
		err = partOf(Threads, s.key, "id").Compare(ctx, tx, maps.Values(s.Threads), func(query.Thread) bool { return gone }, tell)
	}
	if err == nil {
		mayMiss := func(m query.Member) bool { return gone || m.Removed }
		err = within(s, partOf(Members, s.key, "thread_id"), "joined_seq").Compare(ctx, tx, maps.Values(s.Members), mayMiss, tell)
	}
	if err == nil {
		mayMiss := func(m query.Message) bool { return gone || m.Deleted }
		err = within(s, partOf(Messages, s.key, "thread_id"), "seq_nr").Compare(ctx, tx, maps.Values(s.Messages), mayMiss, tell)
	}
	return err
}

// within returns the rows of the shadow's window; the last has no end. The column has the SeqNr of a row's first event.
func within[R any](s *threadShadow, p rowstore.Part[R], column string) rowstore.Part[R] {
	p.Where, p.Args = p.Where+" AND "+column+" > ?", append(p.Args, s.Window.After)
	if after, more := s.Rest(); more {
		p.Where, p.Args = p.Where+" AND "+column+" <= ?", append(p.Args, after)
	}
	return p
}

func (s *threadShadow) Rest() (after uint64, more bool) { return s.Window.UpTo, s.last > s.Window.UpTo }

// The tables of the read model, for writing and reading. Tags of the rows name their columns.
var (
	Threads  = table.Of[query.Thread]("threads", 2)
	Members  = table.Of[query.Member]("members", 2)
	Messages = table.Of[query.Message]("messages", 2)
	Accounts = table.Of[query.Account]("accounts", 2)
)
