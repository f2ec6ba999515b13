package chat

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
	"example.com/threads/usecase/query"
)

// Rows are rows of threads, by tenant and id.
type Rows struct {
	Threads  map[RowKey[thread.Thread]]query.Thread
	Members  map[RowKey[thread.Member]]query.Member
	Messages map[RowKey[thread.Message]]query.Message
}

// RowKey names a row of a tenant.
type RowKey[T any] struct {
	Tenant usecase.Tenant
	ID     ident.Of[T]
}

// NewRows is no rows, ready to take some.
func NewRows() Rows {
	return Rows{
		Threads:  make(map[RowKey[thread.Thread]]query.Thread),
		Members:  make(map[RowKey[thread.Member]]query.Member),
		Messages: make(map[RowKey[thread.Message]]query.Message),
	}
}

// putThread and the others make a row part of rows.
func (r Rows) putThread(row query.Thread) { r.Threads[RowKey[thread.Thread]{row.Tenant, row.ID}] = row }
func (r Rows) putMember(row query.Member) { r.Members[RowKey[thread.Member]{row.Tenant, row.ID}] = row }
func (r Rows) putMessage(row query.Message) {
	r.Messages[RowKey[thread.Message]{row.Tenant, row.ID}] = row
}

// RowStore is where rows of threads are kept. Errors are those of [projection.Store].
type RowStore interface {
	// Load replaces the rows whose keys are in rows by those that are there, and takes the others out.
	Load(ctx context.Context, tx projection.Tx, rows Rows) error
	// Save writes rows, whether they were there before or not.
	Save(ctx context.Context, tx projection.Tx, rows Rows) error
}

// ThreadRows projects threads: it is their [projection.Handler].
type ThreadRows struct {
	store  RowStore
	decode func(payload []byte) (usecase.Recorded[thread.Event], error)
}

// NewThreadRows returns a handler that reads events with decode and keeps rows in store.
func NewThreadRows(store RowStore, decode func(payload []byte) (usecase.Recorded[thread.Event], error)) *ThreadRows {
	return &ThreadRows{store: store, decode: decode}
}

// Type implements [projection.Handler].
func (r *ThreadRows) Type() string { return thread.AggregateType }

// Decode implements [projection.Handler].
func (r *ThreadRows) Decode(payload []byte) (projection.Event, error) {
	recorded, err := r.decode(payload)
	return projection.Event{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// Load implements [projection.Handler].
func (r *ThreadRows) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	rows := neededBy(events)
	if err := r.store.Load(ctx, tx, rows); err != nil {
		return nil, err
	}
	return &threadFold{
		rows: rows, changed: NewRows(),
		save: func(ctx context.Context, changed Rows) error { return r.store.Save(ctx, tx, changed) },
	}, nil
}

// neededBy has the keys of the rows that events change, and that are not made by them.
func neededBy(events []projection.Event) Rows {
	rows := NewRows()
	for _, recorded := range events {
		rows.putThread(query.Thread{Tenant: recorded.Tenant, ID: ThreadID(recorded.Key())})
		member := func(id thread.MemberID) { rows.putMember(query.Member{Tenant: recorded.Tenant, ID: id}) }
		message := func(id thread.MessageID) { rows.putMessage(query.Message{Tenant: recorded.Tenant, ID: id}) }
		switch event := recorded.Event.(type) {
		case thread.MemberRemoved:
			member(event.Member)
		case thread.MemberRoleChanged:
			member(event.Member)
		case thread.MessageEdited:
			message(event.Message.ID)
		case thread.MessageDeleted:
			message(event.Message)
		}
	}
	return rows
}

// threadFold is the rows of one transaction.
type threadFold struct {
	rows    Rows // as they are now
	changed Rows // those of them that are to be saved
	save    func(ctx context.Context, changed Rows) error
}

// Save implements [projection.Fold].
func (f *threadFold) Save(ctx context.Context) error { return f.save(ctx, f.changed) }

// Apply implements [projection.Fold].
func (f *threadFold) Apply(recorded projection.Event) error {
	rows, err := Fold(f.rows, recorded)
	if err != nil {
		return err
	}
	for _, row := range rows.Threads {
		f.rows.putThread(row)
		f.changed.putThread(row)
	}
	for _, row := range rows.Members {
		f.rows.putMember(row)
		f.changed.putMember(row)
	}
	for _, row := range rows.Messages {
		f.rows.putMessage(row)
		f.changed.putMessage(row)
	}
	return nil
}

// Fold says which rows are different after recorded, the next event of its thread, and how they are then. It is pure.
// An event that contradicts the rows, or that this program does not know, is an error.
func Fold(rows Rows, recorded projection.Event) (Rows, error) {
	change := change{before: rows, after: NewRows(), at: recorded.Envelope, id: ThreadID(recorded.Key())}
	err := change.by(recorded.Event)
	return change.after, err
}

// change is what one event does to rows.
type change struct {
	before, after Rows
	at            usecase.Envelope
	id            thread.ID
}

func (c change) by(event any) error {
	row, exists := c.before.Threads[RowKey[thread.Thread]{c.at.Tenant, c.id}]
	created, begins := event.(thread.Created)
	switch {
	case begins && exists:
		return errors.New("the thread exists already")
	case begins:
		return c.create(created)
	case !exists:
		return errors.New("the thread does not exist")
	case row.Deleted:
		return errors.New("the thread is deleted")
	}
	row.Version, row.UpdatedAt = c.at.SeqNr, c.at.OccurredAt
	defer func() { c.after.putThread(row) }()

	switch e := event.(type) {
	case thread.Renamed:
		row.Name = e.Name.String()
	case thread.Deleted:
		row.Deleted = true
	case thread.MemberAdded:
		c.join(e.Member)
	case thread.MemberRemoved:
		return c.member(e.Member, func(m *query.Member) { m.Removed = true })
	case thread.MemberRoleChanged:
		return c.member(e.Member, func(m *query.Member) { m.Role = e.Role })
	case thread.MessagePosted:
		c.after.putMessage(query.Message{
			Tenant: c.at.Tenant, ID: e.Message.ID, Thread: c.id, Sender: e.Message.Sender, Text: e.Message.Text.String(),
			SeqNr: c.at.SeqNr, CreatedAt: c.at.OccurredAt, UpdatedAt: c.at.OccurredAt,
		})
	case thread.MessageEdited:
		return c.message(e.Message.ID, func(m *query.Message) { m.Text = e.Message.Text.String() })
	case thread.MessageDeleted:
		return c.message(e.Message, func(m *query.Message) { m.Text, m.Deleted = "", true })
	default:
		return fmt.Errorf("no projection of event %T", event)
	}
	return nil
}

func (c change) create(e thread.Created) error {
	row := query.Thread{
		Tenant: c.at.Tenant, ID: c.id, Name: e.Name.String(), Version: c.at.SeqNr, CreatedAt: c.at.OccurredAt, UpdatedAt: c.at.OccurredAt,
	}
	for _, member := range e.Members {
		if member.Role == thread.RoleAdmin && row.Owner.IsZero() {
			row.Owner = member.User
		}
		c.join(member)
	}
	if row.Owner.IsZero() {
		return errors.New("the thread begins without an Admin")
	}
	c.after.putThread(row)
	return nil
}

func (c change) join(member thread.Member) {
	c.after.putMember(query.Member{
		Tenant: c.at.Tenant, ID: member.ID, Thread: c.id, User: member.User, Role: member.Role,
		JoinedSeq: c.at.SeqNr, CreatedAt: c.at.OccurredAt, UpdatedAt: c.at.OccurredAt,
	})
}

// member changes a member that is there.
func (c change) member(id thread.MemberID, change func(*query.Member)) error {
	row, exists := c.before.Members[RowKey[thread.Member]{c.at.Tenant, id}]
	if !exists || row.Removed || row.Thread != c.id {
		return fmt.Errorf("member %s is not in the thread", id)
	}
	row.UpdatedAt = c.at.OccurredAt
	change(&row)
	c.after.putMember(row)
	return nil
}

// message changes a message that is there.
func (c change) message(id thread.MessageID, change func(*query.Message)) error {
	row, exists := c.before.Messages[RowKey[thread.Message]{c.at.Tenant, id}]
	if !exists || row.Deleted || row.Thread != c.id {
		return fmt.Errorf("message %s is not in the thread", id)
	}
	row.UpdatedAt = c.at.OccurredAt
	change(&row)
	c.after.putMessage(row)
	return nil
}
