package chatrows

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
)

// LeaveOnCloseHandlers returns the handlers of [chat.LeaveOnClose], which put its commands into outbox. What they know
// is separate from the read model, which may be stale or rebuilt. Joining and closing lock the same row, so whichever
// is projected second sees the first, in whatever order the events of thread and account arrive. A membership is kept
// when it ends: after a restore of an older event store it may not have ended, and for a user who is no member the
// command does nothing.
func LeaveOnCloseHandlers(outbox *process.Outbox) []projection.Handler {
	return []projection.Handler{
		leaveOnClose{eventjson.Accounts(), outbox},
		leaveOnClose{eventjson.Threads(), outbox},
	}
}

type leaveOnClose struct {
	es.AnyAggregate
	outbox *process.Outbox
}

// Most events of threads are about messages, which change no membership.
func (l leaveOnClose) DecodeEvent(payload []byte) (projection.Event, error) {
	if strings.HasPrefix(es.EventName(payload), "ThreadMessage") {
		return projection.Event{}, nil
	}
	return l.AnyAggregate.DecodeEvent(payload)
}

type user struct {
	Tenant es.Tenant    `db:"tenant_code"`
	ID     ident.UserID `db:"account_id"`
}

type closable struct {
	user
	chat.Closing
}

type membership struct {
	user
	Thread thread.ID `db:"thread_id"`
}

func (m membership) withdrawal(foundBy string, because chat.Closing) process.Command {
	return chat.Withdrawal(m.ID, chat.ThreadKey(m.Tenant, m.Thread), foundBy, because)
}

var (
	closables   = table.Of[closable]("leave_on_close_accounts", 2)
	memberships = table.Of[membership]("leave_on_close_memberships", 3)
)

// Nothing is read before the events are known.
func (h leaveOnClose) Load(context.Context, projection.Tx, []projection.Event) (projection.Fold, error) {
	return &leaving{
		outbox: h.outbox, closed: map[user]es.Envelope{}, joined: map[membership]es.Envelope{},
	}, nil
}

// leaving is the [projection.Fold] of what the events of one transaction tell.
type leaving struct {
	outbox *process.Outbox
	closed map[user]es.Envelope       // by which event
	joined map[membership]es.Envelope // by which event
}

func (l *leaving) Apply(recorded projection.Event) error {
	switch event := recorded.Event.(type) {
	case account.Event:
		switch event.(type) {
		case account.Registered, account.Renamed:
			return nil
		case account.Closed:
		case account.Erased: // extra:erasure
		}
		l.closed[user{recorded.Tenant, chat.AccountID(recorded.Aggregate())}] = recorded.Envelope
	case thread.Event:
		l.applyToThread(recorded.Envelope, event)
	default:
		return fmt.Errorf("%T is no event of an account or a thread", recorded.Event)
	}
	return nil
}

func (l *leaving) applyToThread(at es.Envelope, event thread.Event) {
	of := func(id ident.UserID) membership {
		return membership{user{at.Tenant, id}, chat.ThreadID(at.Aggregate())}
	}
	switch e := event.(type) {
	case thread.Created:
		for _, member := range e.Members {
			l.joined[of(member.User)] = at
		}
	case thread.MemberAdded:
		l.joined[of(e.Member.User)] = at
	case thread.Renamed, thread.Deleted, thread.MemberRemoved, thread.MemberRoleChanged,
		thread.MessagePosted, thread.MessageEdited, thread.MessageDeleted:
	}
}

func (l *leaving) Save(ctx context.Context, tx projection.Tx) error {
	in := rowstore.SQL(tx)
	closings, err := l.lock(ctx, in)
	if err != nil {
		return err
	}
	var commands []process.Command
	var closed []closable
	for of, by := range l.closed {
		because := chat.Closing{EventID: by.EventID, CorrelationID: by.CorrelationID}
		closed = append(closed, closable{of, because})
		err := memberships.Query(ctx, in, func(m membership) { commands = append(commands, m.withdrawal(by.EventID, because)) },
			"SELECT tenant_code, account_id, thread_id FROM leave_on_close_memberships WHERE tenant_code = ? AND account_id = ?",
			of.Tenant.String(), of.ID.String())
		if err != nil {
			return in.Explain("read memberships", err)
		}
	}
	if err := closables.Upsert(ctx, in, in.Dialect, closed); err != nil {
		return in.Explain("close user accounts", err)
	}
	for m, by := range l.joined {
		if because := closings[m.user]; because.EventID != "" {
			if by.EventID > because.EventID { // ids are in the order of time: who added it did so afterwards
				because = chat.Closing{EventID: by.EventID, CorrelationID: by.CorrelationID}
			}
			commands = append(commands, m.withdrawal(by.EventID, because))
		}
	}
	// One of the memberships that began may be stored already.
	if err := memberships.Upsert(ctx, in, in.Dialect, slices.Collect(maps.Keys(l.joined))); err != nil {
		return in.Explain("begin memberships", err)
	}
	return l.outbox.Add(ctx, tx, commands)
}

// lock locks the rows of the user accounts that closed or joined for the transaction, and returns their closings.
func (l *leaving) lock(ctx context.Context, in *rowstore.Tx) (map[user]chat.Closing, error) {
	closings := map[user]chat.Closing{}
	missing := map[user]closable{}
	for of := range l.closed {
		missing[of] = closable{user: of}
	}
	for m := range l.joined {
		missing[m.user] = closable{user: m.user}
	}
	var keys [][]string
	for _, row := range missing {
		keys = append(keys, closables.ID(&row))
	}
	err := closables.Load(ctx, in, keys, in.Dialect.ForUpdate(), func(row closable) {
		closings[row.user] = row.Closing
		delete(missing, row.user)
	})
	if err != nil {
		return nil, in.Explain("lock user accounts", err)
	}
	err = closables.Insert(ctx, in, in.Dialect, slices.Collect(maps.Values(missing)))
	if err != nil && database.IsDuplicate(err) { // another transaction inserted it first
		return nil, fmt.Errorf("store user accounts: %w: %w", projection.ErrTransient, err)
	}
	return closings, in.Explain("store user accounts", err)
}
