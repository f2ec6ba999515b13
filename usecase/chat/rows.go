package chat

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/usecase/query"
)

// Rows are rows of threads by tenant and id.
type Rows struct {
	Threads  map[RowKey[thread.Thread]]query.Thread
	Members  map[RowKey[thread.Member]]query.Member
	Messages map[RowKey[thread.Message]]query.Message
}

// RowKey is the key of a row within a tenant.
type RowKey[T any] struct {
	Tenant es.Tenant
	ID     ident.Of[T]
}

// NewRows returns empty Rows.
func NewRows() Rows {
	return Rows{
		Threads:  make(map[RowKey[thread.Thread]]query.Thread),
		Members:  make(map[RowKey[thread.Member]]query.Member),
		Messages: make(map[RowKey[thread.Message]]query.Message),
	}
}

// Put adds the rows of a change.
func (r Rows) Put(change Change) {
	r.Threads[RowKey[thread.Thread]{change.Thread.Tenant, change.Thread.ID}] = change.Thread
	for _, row := range change.Members {
		r.Members[RowKey[thread.Member]{row.Tenant, row.ID}] = row
	}
	for _, row := range change.Messages {
		r.Messages[RowKey[thread.Message]{row.Tenant, row.ID}] = row
	}
}

// RowStore stores the rows of threads. Errors are those of [projection.Store].
type RowStore interface {
	// Load reads the rows whose keys are in rows, and removes the keys without a row.
	Load(ctx context.Context, tx projection.Tx, rows Rows) error
	// Save inserts or updates rows.
	Save(ctx context.Context, tx projection.Tx, rows Rows) error
	// Compare reports the differences between a window of a thread's rows and want. It holds one row in memory at a
	// time.
	Compare(ctx context.Context, tx projection.Tx, key es.AggregateID, window Window, want Rows, tell func(projection.Difference)) error
	// Clear deletes all rows of a thread.
	Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error
}

// threadRowsVersion rises with every change that makes other rows of the same events. Existing rows
// must then be rebuilt:
// `threadctl rows rebuild`, or REBUILD=auto.
const threadRowsVersion = 2

// ThreadRows is the [projection.Handler] of threads.
type ThreadRows struct {
	store  RowStore
	events *es.Codec[thread.Event]
}

// NewThreadRows returns a handler that stores rows in store.
func NewThreadRows(store RowStore, events *es.Codec[thread.Event]) *ThreadRows {
	return &ThreadRows{store: store, events: events}
}

// Type implements [projection.Handler].
func (r *ThreadRows) Type() string { return r.events.Type() }

// RowsVersion implements [projection.Versioned].
func (r *ThreadRows) RowsVersion() int { return threadRowsVersion }

// Decode implements [projection.Handler].
func (r *ThreadRows) Decode(payload []byte) (projection.Event, error) {
	recorded, err := r.events.Decode(payload)
	return projection.Event{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// Load implements [projection.Handler].
func (r *ThreadRows) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	rows := neededBy(events)
	if err := r.store.Load(ctx, tx, rows); err != nil {
		return nil, err
	}
	return &threadFold{rows: rows, save: func(ctx context.Context) error { return r.store.Save(ctx, tx, rows) }}, nil
}

// neededBy returns the keys of the existing rows that events change.
func neededBy(events []projection.Event) Rows {
	rows := NewRows()
	var last es.AggregateID
	for _, recorded := range events {
		in := recorded.Tenant
		if key := recorded.Aggregate(); key != last { // the events of a thread follow each other
			rows.Threads[RowKey[thread.Thread]{in, ThreadID(key)}] = query.Thread{}
			last = key
		}
		switch event := recorded.Event.(type) {
		case thread.MemberRemoved:
			rows.Members[RowKey[thread.Member]{in, event.Member}] = query.Member{}
		case thread.MemberRoleChanged:
			rows.Members[RowKey[thread.Member]{in, event.Member}] = query.Member{}
		case thread.MessageEdited:
			rows.Messages[RowKey[thread.Message]{in, event.Message.ID}] = query.Message{}
		case thread.MessageDeleted:
			rows.Messages[RowKey[thread.Message]{in, event.Message}] = query.Message{}
		}
	}
	return rows
}

// threadFold holds the rows of one transaction. Every row in it is saved: one is loaded only for an event that changes
// it, and unless that event cannot be applied, it does.
type threadFold struct {
	rows Rows
	save func(ctx context.Context) error
}

// Save implements [projection.Fold].
func (f *threadFold) Save(ctx context.Context) error { return f.save(ctx) }

// Apply implements [projection.Fold].
func (f *threadFold) Apply(recorded projection.Event) error {
	change, err := Fold(f.rows, recorded)
	if err != nil {
		return err
	}
	f.rows.Put(change)
	return nil
}

// Change holds the rows that an event changes, in their new form.
type Change struct {
	Thread   query.Thread
	Members  []query.Member
	Messages []query.Message
}

// Fold returns the change that recorded, the next event of its thread, makes to rows. It is pure. It fails if the event
// contradicts the rows or is unknown.
func Fold(rows Rows, recorded projection.Event) (Change, error) {
	by, err := AuditOf(recorded.Envelope)
	if err != nil {
		return Change{}, err
	}
	w := work{before: rows, at: recorded.Envelope, id: ThreadID(recorded.Aggregate()), by: by}
	err = w.apply(recorded.Event)
	return w.after, err
}

// work is the change of one event in progress.
type work struct {
	before Rows
	after  Change
	at     es.Envelope
	id     thread.ID
	by     query.Audit // of a row that the event makes
}

func (w *work) apply(event any) error {
	row, exists := w.before.Threads[RowKey[thread.Thread]{w.at.Tenant, w.id}]
	created, begins := event.(thread.Created)
	switch {
	case begins && exists:
		return errors.New("the thread exists already")
	case begins:
		return w.create(created)
	case !exists:
		return errors.New("the thread does not exist")
	case row.Deleted:
		return errors.New("the thread is deleted")
	}
	row.Version, row.UpdatedAt, row.Audit = w.at.SeqNr, w.at.OccurredAt, ChangedBy(w.by, row.Audit)
	w.after.Thread = row

	switch e := event.(type) {
	case eventElsewhere:
	case thread.Renamed:
		w.after.Thread.Name = e.Name.String()
	case thread.Deleted:
		w.after.Thread.Deleted = true
	case thread.MemberAdded:
		w.join(e.Member)
	case thread.MemberRemoved:
		return w.member(e.Member, func(m *query.Member) { m.Removed = true })
	case thread.MemberRoleChanged:
		return w.member(e.Member, func(m *query.Member) { m.Role = e.Role })
	case thread.MessagePosted:
		w.after.Messages = []query.Message{{
			Tenant: w.at.Tenant, ID: e.Message.ID, Thread: w.id, Sender: e.Message.Sender, Text: e.Message.Text.String(),
			SeqNr: w.at.SeqNr, CreatedAt: w.at.OccurredAt, UpdatedAt: w.at.OccurredAt, Audit: w.by,
		}}
	case thread.MessageEdited:
		return w.message(e.Message.ID, func(m *query.Message) { m.Text = e.Message.Text.String() })
	case thread.MessageDeleted:
		return w.message(e.Message, func(m *query.Message) { m.Text, m.Deleted = "", true })
	default:
		return fmt.Errorf("event %T has no projection", event)
	}
	return nil
}

func (w *work) create(e thread.Created) error {
	row := query.Thread{
		Tenant: w.at.Tenant, ID: w.id, Name: e.Name.String(), Code: e.Code, Version: w.at.SeqNr, CreatedAt: w.at.OccurredAt, UpdatedAt: w.at.OccurredAt,
		Audit: w.by,
	}
	for _, member := range e.Members {
		if member.Role == thread.RoleAdmin && row.Owner.IsZero() {
			row.Owner = member.User
		}
		w.join(member)
	}
	if row.Owner.IsZero() {
		return errors.New("the thread was created without an Admin")
	}
	w.after.Thread = row
	return nil
}

func (w *work) join(member thread.Member) {
	w.after.Members = append(w.after.Members, query.Member{
		Tenant: w.at.Tenant, ID: member.ID, Thread: w.id, User: member.User, Role: member.Role,
		JoinedSeq: w.at.SeqNr, CreatedAt: w.at.OccurredAt, UpdatedAt: w.at.OccurredAt, Audit: w.by,
	})
}

// member changes an existing member.
func (w *work) member(id thread.MemberID, change func(*query.Member)) error {
	row, exists := w.before.Members[RowKey[thread.Member]{w.at.Tenant, id}]
	if !exists || row.Removed || row.Thread != w.id {
		return fmt.Errorf("member %s is not in the thread", id)
	}
	row.UpdatedAt, row.Audit = w.at.OccurredAt, ChangedBy(w.by, row.Audit)
	change(&row)
	w.after.Members = []query.Member{row}
	return nil
}

// message changes an existing message.
func (w *work) message(id thread.MessageID, change func(*query.Message)) error {
	row, exists := w.before.Messages[RowKey[thread.Message]{w.at.Tenant, id}]
	if !exists || row.Deleted || row.Thread != w.id {
		return fmt.Errorf("message %s is not in the thread", id)
	}
	row.UpdatedAt, row.Audit = w.at.OccurredAt, ChangedBy(w.by, row.Audit)
	change(&row)
	w.after.Messages = []query.Message{row}
	return nil
}
