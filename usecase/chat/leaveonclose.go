package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/process"
	"example.com/threads/usecase/projection"
)

// LeaveOnClose is the name of the process manager that has a closed account leave its threads: the threads that it is in
// when it is closed, and every thread that it is added to afterwards.
const LeaveOnClose = "leave-on-close"

// Membership is a user account's place in a thread, as far as [LeaveOnClose] knows it.
type Membership struct {
	Tenant usecase.Tenant
	User   ident.UserID
	Thread thread.ID
}

func (m Membership) account() AccountRow { return AccountRow{m.Tenant, m.User} }

// MembershipStore is what [LeaveOnClose] knows. It is not the read model, which may be behind and made anew. All methods
// work in a transaction; errors are those of [projection.Store].
type MembershipStore interface {
	// Lock locks what is known of user accounts until the transaction ends, and tells by which event each was closed; empty:
	// it is not. Others who lock one of them wait. Where nothing was known of one, and another transaction locks it first, the
	// error is [projection.ErrTransient].
	Lock(ctx context.Context, tx projection.Tx, accounts []AccountRow) (closedBy map[AccountRow]string, err error)
	// Close notes by which event user accounts, which are locked, were closed.
	Close(ctx context.Context, tx projection.Tx, closedBy map[AccountRow]string) error
	// Of lists the memberships of a user account, which is locked.
	Of(ctx context.Context, tx projection.Tx, of AccountRow) ([]Membership, error)
	// Change notes which memberships have ended, with which threads all memberships, and after that which have begun.
	Change(ctx context.Context, tx projection.Tx, left []Membership, ended []usecase.Key, joined []Membership) error
}

// LeaveOnCloseHandlers are the handlers of [LeaveOnClose]. Who joins and who closes lock the same row: whichever comes second
// sees the first, in whatever order and transactions the events of thread and account come.
func LeaveOnCloseHandlers(store MembershipStore, outbox process.Outbox, decodeThread DecodeThread, decodeAccount DecodeAccount) []projection.Handler {
	return []projection.Handler{
		closings{NewAccountRows(nil, decodeAccount), store, outbox},
		joinings{NewThreadRows(nil, decodeThread), store, outbox},
	}
}

// closings is the handler of accounts.
type closings struct {
	*AccountRows
	store  MembershipStore
	outbox process.Outbox
}

// Load implements [projection.Handler]. Nothing is needed before it is known what has happened.
func (h closings) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &closingFold{handler: h, tx: tx, closed: map[AccountRow]usecase.Envelope{}}, nil
}

type closingFold struct {
	handler closings
	tx      projection.Tx
	closed  map[AccountRow]usecase.Envelope // by which event
}

// Apply implements [projection.Fold].
func (f *closingFold) Apply(recorded projection.Event) error {
	if _, closes := recorded.Event.(account.Closed); closes {
		f.closed[accountRowOf(recorded)] = recorded.Envelope
	}
	return nil
}

// Save implements [projection.Fold].
func (f *closingFold) Save(ctx context.Context) error {
	if len(f.closed) == 0 {
		return nil
	}
	store := f.handler.store
	if _, err := store.Lock(ctx, f.tx, slices.Collect(maps.Keys(f.closed))); err != nil {
		return err
	}
	closedBy := make(map[AccountRow]string, len(f.closed))
	var leaving []process.Command
	for of, by := range f.closed {
		closedBy[of] = by.EventID
		memberships, err := store.Of(ctx, f.tx, of)
		if err != nil {
			return err
		}
		for _, membership := range memberships {
			leaving = append(leaving, withdrawal(membership, by))
		}
	}
	if err := store.Close(ctx, f.tx, closedBy); err != nil {
		return err
	}
	return f.handler.outbox.Add(ctx, f.tx, leaving)
}

// joinings is the handler of threads.
type joinings struct {
	*ThreadRows
	store  MembershipStore
	outbox process.Outbox
}

// Load implements [projection.Handler]. Nothing is needed before it is known what has happened.
func (h joinings) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &joiningFold{
		handler: h, tx: tx, joined: map[Membership]usecase.Envelope{}, left: map[Membership]bool{}, ended: map[usecase.Key]bool{},
	}, nil
}

type joiningFold struct {
	handler joinings
	tx      projection.Tx
	joined  map[Membership]usecase.Envelope // by which event
	left    map[Membership]bool             // also those that have begun again
	ended   map[usecase.Key]bool
}

// Apply implements [projection.Fold].
func (f *joiningFold) Apply(recorded projection.Event) error {
	of := func(user ident.UserID) Membership {
		return Membership{recorded.Tenant, user, ThreadID(recorded.Key())}
	}
	join := func(member thread.Member) { f.joined[of(member.User)] = recorded.Envelope }
	switch e := recorded.Event.(type) {
	case thread.Created:
		for _, member := range e.Members {
			join(member)
		}
	case thread.MemberAdded:
		join(e.Member)
	case thread.MemberRemoved:
		delete(f.joined, of(e.User))
		f.left[of(e.User)] = true
	case thread.Deleted:
		maps.DeleteFunc(f.joined, func(m Membership, by usecase.Envelope) bool { return by.Key() == recorded.Key() })
		f.ended[recorded.Key()] = true
	case thread.Renamed, thread.MemberRoleChanged, thread.MessagePosted, thread.MessageEdited, thread.MessageDeleted:
	default:
		return fmt.Errorf("%s does not know what event %T does to members", LeaveOnClose, e)
	}
	return nil
}

// Save implements [projection.Fold].
func (f *joiningFold) Save(ctx context.Context) error {
	if len(f.joined)+len(f.left)+len(f.ended) == 0 {
		return nil
	}
	store := f.handler.store
	accounts := map[AccountRow]bool{}
	for membership := range f.joined {
		accounts[membership.account()] = true
	}
	closedBy, err := store.Lock(ctx, f.tx, slices.Collect(maps.Keys(accounts)))
	if err != nil {
		return err
	}
	var leaving []process.Command
	for membership, by := range f.joined {
		if closedBy[membership.account()] != "" {
			leaving = append(leaving, withdrawal(membership, by))
		}
	}
	err = store.Change(ctx, f.tx, slices.Collect(maps.Keys(f.left)), slices.Collect(maps.Keys(f.ended)), slices.Collect(maps.Keys(f.joined)))
	if err != nil {
		return err
	}
	return f.handler.outbox.Add(ctx, f.tx, leaving)
}

// withdrawal has the member leave, because of an event: the one that closed the account, or the one that added it.
func withdrawal(m Membership, because usecase.Envelope) process.Command {
	return process.Command{
		Target: ThreadKey(m.Tenant, m.Thread), Name: thread.CommandName(thread.Withdraw{}), EventID: because.EventID,
		Executor: m.User.String(), CorrelationID: because.CorrelationID,
	}
}

// SendWithdrawals sends the commands of [LeaveOnClose] to threads. Who is no member, or whose thread is deleted, has left.
func SendWithdrawals(threads *ThreadCommands) process.Send {
	return func(ctx context.Context, caller usecase.Caller, idempotencyKey string, c process.Command) error {
		user, err := ident.Parse[ident.UserAccount](c.Executor)
		if err != nil {
			return fmt.Errorf("the executor %q: %w", c.Executor, err)
		}
		withdraw := thread.Withdraw{Executor: user}
		if name := thread.CommandName(withdraw); c.Name != name {
			return fmt.Errorf("%s sends %s and knows no command %s", LeaveOnClose, name, c.Name)
		}
		content, err := json.Marshal(map[string]string{"executor_id": user.String(), "thread_id": c.Target.ID})
		if err != nil {
			return err
		}
		_, err = threads.Handle(ctx, command.Request[thread.Command]{
			Caller: caller, ID: c.Target.ID, Command: withdraw, Name: c.Name, Content: string(content), IdempotencyKey: idempotencyKey,
		})
		if errors.Is(err, thread.ErrNotMember) || errors.Is(err, thread.ErrThreadDeleted) {
			return nil
		}
		return err
	}
}
