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
	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
)

// LeaveOnClose is the name of the process manager that makes a closed account leave its threads: those that it is a
// member of when it is closed, and those that it is added to later.
const LeaveOnClose = "leave-on-close"

// AccountRow names what is known of a user account.
type AccountRow = RowKey[ident.UserAccount]

// Membership is the membership of a user account in a thread, as [LeaveOnClose] stores it.
type Membership struct {
	Tenant es.Tenant
	User   ident.UserID
	Thread thread.ID
}

// Closing identifies the event that closed an account, which causes the withdrawals.
type Closing struct{ EventID, CorrelationID string }

func (m Membership) account() AccountRow { return AccountRow{m.Tenant, m.User} }

// MembershipStore is the state of [LeaveOnClose]. It is separate from the read model, which may be stale or rebuilt.
// All methods work in a transaction; errors are those of [projection.Store].
type MembershipStore interface {
	// Lock locks the rows of user accounts until the transaction ends, and returns the closings of the closed ones.
	// Other transactions that lock one of them wait. If a row is new and another transaction inserts it first, the
	// error is [projection.ErrTransient].
	Lock(ctx context.Context, tx projection.Tx, accounts []AccountRow) (map[AccountRow]Closing, error)
	// Close stores the closings of user accounts, which must be locked.
	Close(ctx context.Context, tx projection.Tx, closed map[AccountRow]Closing) error
	// Of returns the memberships of a user account, which must be locked.
	Of(ctx context.Context, tx projection.Tx, of AccountRow) ([]Membership, error)
	// Change deletes the memberships in left and those of the ended threads, then stores those in joined, which may be
	// stored already.
	Change(ctx context.Context, tx projection.Tx, left []Membership, ended []es.AggregateID, joined []Membership) error
}

// LeaveOnCloseHandlers returns the handlers of [LeaveOnClose]. Joining and closing lock the same row, so whichever is
// projected second sees the first, in whatever order the events of thread and account arrive.
//
// Most events of threads are messages, which change no membership: concerns tells the others by their payload.
func LeaveOnCloseHandlers(
	store MembershipStore, outbox process.Outbox, threads *es.Codec[thread.Event], concerns func(payload []byte) bool, accounts *es.Codec[account.Event],
) []projection.Handler {
	return []projection.Handler{
		closings{AccountRows(nil, accounts), store, outbox},
		joinings{NewThreadRows(nil, threads), concerns, store, outbox},
	}
}

// closings is the handler of accounts.
type closings struct {
	projection.Handler
	store  MembershipStore
	outbox process.Outbox
}

// Load implements [projection.Handler]. Nothing is read before the events are known.
func (h closings) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &closingFold{handler: h, tx: tx, closed: map[AccountRow]es.Envelope{}}, nil
}

type closingFold struct {
	handler closings
	tx      projection.Tx
	closed  map[AccountRow]es.Envelope // by which event
}

// Apply implements [projection.Fold].
func (f *closingFold) Apply(recorded projection.Event) error {
	of := AccountRow{recorded.Tenant, AccountID(recorded.Aggregate())}
	event, is := recorded.Event.(account.Event) // the linter sees when one is missing below
	if !is {
		return fmt.Errorf("%T is no event of an account", recorded.Event)
	}
	switch event.(type) {
	case account.Closed, account.Erased:
		f.closed[of] = recorded.Envelope
	case account.Registered, account.Renamed:
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
	closed := make(map[AccountRow]Closing, len(f.closed))
	var leaving []process.Command
	for of, by := range f.closed {
		closed[of] = Closing{by.EventID, by.CorrelationID}
		memberships, err := store.Of(ctx, f.tx, of)
		if err != nil {
			return err
		}
		for _, membership := range memberships {
			leaving = append(leaving, withdrawal(membership, by.EventID, closed[of]))
		}
	}
	if err := store.Close(ctx, f.tx, closed); err != nil {
		return err
	}
	return f.handler.outbox.Add(ctx, f.tx, leaving)
}

// joinings is the handler of threads.
type joinings struct {
	*ThreadRows
	concerns func(payload []byte) bool
	store    MembershipStore
	outbox   process.Outbox
}

// Concerns implements [projection.Selective].
func (h joinings) Concerns(payload []byte) bool { return h.concerns(payload) }

// Load implements [projection.Handler]. Nothing is read before the events are known.
func (h joinings) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return &joiningFold{
		handler: h, tx: tx, joined: map[Membership]es.Envelope{}, left: map[Membership]bool{}, ended: map[es.AggregateID]bool{},
	}, nil
}

type joiningFold struct {
	handler joinings
	tx      projection.Tx
	joined  map[Membership]es.Envelope // by which event
	left    map[Membership]bool        // also those that have begun again
	ended   map[es.AggregateID]bool
}

// Apply implements [projection.Fold].
func (f *joiningFold) Apply(recorded projection.Event) error {
	of := func(user ident.UserID) Membership {
		return Membership{recorded.Tenant, user, ThreadID(recorded.Aggregate())}
	}
	join := func(member thread.Member) { f.joined[of(member.User)] = recorded.Envelope }
	event, is := recorded.Event.(thread.Event) // the linter sees when one is missing below
	if !is {
		return fmt.Errorf("%T is no event of a thread", recorded.Event)
	}
	switch e := event.(type) {
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
		maps.DeleteFunc(f.joined, func(m Membership, by es.Envelope) bool { return by.Aggregate() == recorded.Aggregate() })
		f.ended[recorded.Aggregate()] = true
	case thread.Renamed, thread.MemberRoleChanged, thread.MessagePosted, thread.MessageEdited, thread.MessageDeleted:
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
	closed, err := store.Lock(ctx, f.tx, slices.Collect(maps.Keys(accounts)))
	if err != nil {
		return err
	}
	var leaving []process.Command
	for membership, by := range f.joined {
		if because, isClosed := closed[membership.account()]; isClosed {
			if by.EventID > because.EventID { // ids are in the order of time: who added it did so afterwards
				because = Closing{by.EventID, by.CorrelationID}
			}
			leaving = append(leaving, withdrawal(membership, by.EventID, because))
		}
	}
	err = store.Change(ctx, f.tx, slices.Collect(maps.Keys(f.left)), slices.Collect(maps.Keys(f.ended)), slices.Collect(maps.Keys(f.joined)))
	if err != nil {
		return err
	}
	return f.handler.outbox.Add(ctx, f.tx, leaving)
}

// withdrawal has the member leave, which was found necessary by an event: that of the account or that of the thread,
// whichever comes second. The cause is the event that closed the account, or else the one that added it to the thread
// afterwards.
func withdrawal(m Membership, foundBy string, because Closing) process.Command {
	return process.Command{
		Target: ThreadKey(m.Tenant, m.Thread), Name: thread.CommandName(thread.Withdraw{}), EventID: foundBy,
		Executor: m.User.String(), CausationID: because.EventID, CorrelationID: because.CorrelationID,
	}
}

// SendWithdrawals sends the commands of [LeaveOnClose] to threads. Who is no member, or whose thread is deleted, has
// left.
func SendWithdrawals(threads *ThreadCommands) process.Send {
	return func(ctx context.Context, caller es.Caller, idempotencyKey string, c process.Command) error {
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
		_, err = threads.Handle(ctx, es.Request[thread.Command]{
			Caller: caller, ID: c.Target.ID, Command: withdraw, Name: c.Name, Content: string(content), IdempotencyKey: idempotencyKey,
		})
		if errors.Is(err, thread.ErrNotMember) || errors.Is(err, thread.ErrThreadDeleted) {
			return nil
		}
		return err
	}
}
