package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/usecase/query"
)

// The names in an answer, beside the thread and its version.
const (
	AnswerCode    = "code"
	AnswerMember  = "member_id"
	AnswerMessage = "message_id"
)

// AboutThread returns what an answer tells: the new thread's code, or the member or message that a command concerned.
func AboutThread(events []thread.Event) map[string]string {
	about := map[string]string{}
	for _, event := range events {
		switch e := event.(type) {
		case thread.Created:
			about[AnswerCode] = e.Code.String()
		case thread.Renamed, thread.Deleted:
		case thread.MemberAdded:
			about[AnswerMember] = e.Member.ID.String()
		case thread.MemberRemoved:
			about[AnswerMember] = e.Member.String()
		case thread.MemberRoleChanged:
			about[AnswerMember] = e.Member.String()
		case thread.MessagePosted:
			about[AnswerMessage] = e.Message.ID.String()
		case thread.MessageEdited:
			about[AnswerMessage] = e.Message.ID.String()
		case thread.MessageDeleted:
			about[AnswerMessage] = e.Message.String()
		}
	}
	return about
}

// CodeKind is the sequence of the threads' codes, with which they begin.
const CodeKind = "THREAD"

// WithCodes gives each new thread a code from codes. That of a rejected or repeated creation is lost.
func WithCodes(threads Service[thread.Command], codes es.Sequence) Service[thread.Command] {
	return coded{threads, codes}
}

type coded struct {
	Service[thread.Command]
	codes es.Sequence
}

func (c coded) Handle(ctx context.Context, request es.Request[thread.Command]) (es.Result, error) {
	if create, creates := request.Command.(thread.Create); creates {
		code, err := c.codes.NextCode(ctx, request.Caller.Tenant)
		if err != nil {
			return es.Result{}, err
		}
		create.Code = thread.RecordedCode(code)
		request.Command = create
	}
	return c.Service.Handle(ctx, request)
}

// ThreadRowsVersion rises with every change that makes other rows of the same events, which must then be rebuilt.
const ThreadRowsVersion = 2

// Rows are rows of threads by tenant and id.
type Rows struct {
	Threads  map[RowKey[thread.Thread]]query.Thread
	Members  map[RowKey[thread.Member]]query.Member
	Messages map[RowKey[thread.Message]]query.Message
	Window   Window // of the members and messages
}

// RowKey is the key of a row within a tenant.
type RowKey[T any] struct {
	Tenant es.Tenant
	ID     ident.Of[T]
}

// Window selects the members and messages created by events after After and up to UpTo (0: the rest).
type Window struct{ After, UpTo uint64 }

func (w Window) has(seqNr uint64) bool { return seqNr > w.After && (w.UpTo == 0 || seqNr <= w.UpTo) }

func NewRows() Rows {
	return Rows{
		Threads:  make(map[RowKey[thread.Thread]]query.Thread),
		Members:  make(map[RowKey[thread.Member]]query.Member),
		Messages: make(map[RowKey[thread.Message]]query.Message),
	}
}

// RowsOf returns Rows with the keys of the rows that must be read before the events can change them: no others than the
// thread's for a posted message, which makes a row.
func RowsOf(events []projection.Event) Rows {
	rows := NewRows()
	for _, recorded := range events {
		in := recorded.Tenant
		rows.Threads[RowKey[thread.Thread]{in, ThreadID(recorded.Aggregate())}] = query.Thread{}
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

// Apply is the fold: it changes the rows by an event, the next one of its thread. It fails, and changes nothing, if the
// event contradicts the rows. Members and messages outside the window are left out; only a comparison with the journal
// has a window.
func (r Rows) Apply(recorded projection.Event) error {
	by, err := query.AuditOf(recorded.Envelope)
	if err != nil {
		return err
	}
	event, is := recorded.Event.(thread.Event)
	if !is {
		return fmt.Errorf("%T is no event of a thread", recorded.Event)
	}
	id := ThreadID(recorded.Aggregate())
	key := RowKey[thread.Thread]{recorded.Tenant, id}
	row, exists := r.Threads[key]
	_, begins := event.(thread.Created)
	switch {
	case begins && exists:
		return errors.New("the thread exists already")
	case begins:
		row = query.Thread{Tenant: recorded.Tenant, ID: id, CreatedAt: recorded.OccurredAt, Audit: by}
	case !exists:
		return errors.New("the thread does not exist")
	case row.Deleted:
		return errors.New("the thread is deleted")
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, query.ChangedBy(by, row.Audit)

	switch e := event.(type) {
	case thread.Created:
		admin := slices.IndexFunc(e.Members, func(member thread.Member) bool { return member.Role == thread.RoleAdmin })
		if admin < 0 {
			return errors.New("the thread was created without an Admin")
		}
		row.Name, row.Code, row.Owner = e.Name.String(), e.Code, e.Members[admin].User
		for _, member := range e.Members {
			r.join(recorded.Envelope, by, member)
		}
	case thread.Renamed:
		row.Name = e.Name.String()
	case thread.Deleted:
		row.Deleted = true
	case thread.MemberAdded:
		r.join(recorded.Envelope, by, e.Member)
	case thread.MemberRemoved:
		err = r.member(recorded.Envelope, by, e.Member, func(m *query.Member) { m.Removed = true })
	case thread.MemberRoleChanged:
		err = r.member(recorded.Envelope, by, e.Member, func(m *query.Member) { m.Role = e.Role })
	case thread.MessagePosted:
		if r.Window.has(recorded.SeqNr) {
			r.Messages[RowKey[thread.Message]{recorded.Tenant, e.Message.ID}] = query.Message{
				Tenant: recorded.Tenant, ID: e.Message.ID, Thread: id, Sender: e.Message.Sender, Text: e.Message.Text.String(),
				SeqNr: recorded.SeqNr, CreatedAt: recorded.OccurredAt, UpdatedAt: recorded.OccurredAt, Audit: by,
			}
		}
	case thread.MessageEdited:
		err = r.message(recorded.Envelope, e.Message.ID, func(m *query.Message) {
			m.Text, m.UpdatedAt, m.Audit = e.Message.Text.String(), recorded.OccurredAt, query.ChangedBy(by, m.Audit)
		})
	case thread.MessageDeleted:
		err = r.message(recorded.Envelope, e.Message, func(m *query.Message) {
			m.Text, m.Deleted, m.UpdatedAt, m.Audit = "", true, recorded.OccurredAt, query.ChangedBy(by, m.Audit)
		})
	}
	if err == nil {
		r.Threads[key] = row
	}
	return err
}

func (r Rows) join(at es.Envelope, by query.Audit, member thread.Member) {
	if r.Window.has(at.SeqNr) {
		r.Members[RowKey[thread.Member]{at.Tenant, member.ID}] = query.Member{
			Tenant: at.Tenant, ID: member.ID, Thread: ThreadID(at.Aggregate()), User: member.User, Role: member.Role,
			JoinedSeq: at.SeqNr, CreatedAt: at.OccurredAt, UpdatedAt: at.OccurredAt, Audit: by,
		}
	}
}

func (r Rows) member(at es.Envelope, by query.Audit, id thread.MemberID, change func(*query.Member)) error {
	key := RowKey[thread.Member]{at.Tenant, id}
	row, exists := r.Members[key]
	switch {
	case !exists && r.leavesOut(at):
		return nil
	case !exists || row.Removed || row.Thread != ThreadID(at.Aggregate()):
		return fmt.Errorf("member %s is not in the thread", id)
	}
	row.UpdatedAt, row.Audit = at.OccurredAt, query.ChangedBy(by, row.Audit)
	change(&row)
	r.Members[key] = row
	return nil
}

func (r Rows) message(at es.Envelope, id thread.MessageID, change func(*query.Message)) error {
	key := RowKey[thread.Message]{at.Tenant, id}
	row, exists := r.Messages[key]
	switch {
	case !exists && r.leavesOut(at):
		return nil
	case !exists || row.Deleted || row.Thread != ThreadID(at.Aggregate()):
		return fmt.Errorf("message %s is not in the thread", id)
	}
	change(&row)
	r.Messages[key] = row
	return nil
}

// leavesOut reports whether the rows may lack something because of the window.
func (r Rows) leavesOut(at es.Envelope) bool { return r.Window.After > 0 || !r.Window.has(at.SeqNr) }

// Services handle the commands on threads and accounts. A program may wrap them.
type Services struct {
	Threads  Service[thread.Command]
	Accounts Service[account.Command]
}

// ThreadCommands is the service that handles the commands on threads.
type ThreadCommands = es.Service[thread.Thread, thread.Command, thread.Event]

// ThreadKey returns the key of a tenant's thread.
func ThreadKey(tenant es.Tenant, id thread.ID) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: thread.AggregateType, ID: id.String()}
}

// ThreadID returns the thread's id in a key; zero if the key is not a thread's.
func ThreadID(key es.AggregateID) thread.ID { return idOf[thread.Thread](key, thread.AggregateType) }

// AccountID returns the account's id in a key; zero if the key is not an account's.
func AccountID(key es.AggregateID) account.ID {
	return idOf[ident.UserAccount](key, account.AggregateType)
}

func idOf[T any](key es.AggregateID, aggregateType string) ident.Of[T] {
	id, err := ident.Parse[T](key.ID)
	if err != nil || key.Type != aggregateType {
		return ident.Of[T]{}
	}
	return id
}
