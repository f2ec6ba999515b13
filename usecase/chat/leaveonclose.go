package chat

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/process"
)

// LeaveOnClose is the process manager that makes a closed account leave its threads, also those that it joins later.
const LeaveOnClose = "leave-on-close"

// Closing identifies the event that closed an account, which causes the withdrawals.
type Closing struct {
	EventID       string `db:"closed_by"` // empty: not closed
	CorrelationID string `db:"correlation_id"`
}

// Withdrawal returns the command with which a member leaves. foundBy is the later of two events: the account was
// closed, or it joined the thread. The command's cause is the event that closed the account.
func Withdrawal(user ident.UserID, from es.AggregateID, foundBy string, because Closing) process.Command {
	return process.Command{
		Target: from, Name: thread.CommandName(thread.Withdraw{}), EventID: foundBy,
		Executor: user.String(), CausationID: because.EventID, CorrelationID: because.CorrelationID,
	}
}

// SendWithdrawals sends the commands of [LeaveOnClose]. Who is no member, or whose thread is deleted, has left. After a
// restore of an older event store, the account may be open, or the thread may not exist.
func SendWithdrawals(threads *ThreadCommands, accounts *es.Repository[account.Account, account.Event]) process.Send {
	return func(ctx context.Context, caller es.Caller, idempotencyKey string, c process.Command) error {
		user, err := ident.Parse[ident.UserAccount](c.Executor)
		if err != nil {
			return fmt.Errorf("the executor %q: %w", c.Executor, err)
		}
		withdraw := thread.Withdraw{Executor: user}
		if name := thread.CommandName(withdraw); c.Name != name {
			return fmt.Errorf("%s sends %s and knows no command %s", LeaveOnClose, name, c.Name)
		}
		closed, err := accounts.Reload(ctx, es.AggregateID{Tenant: c.Target.Tenant, Type: account.AggregateType, ID: user.String()})
		if err != nil || !closed.Value.Closed {
			return err
		}
		content := fmt.Sprintf(`{"executor_id":%q,"thread_id":%q}`, user, c.Target.ID)
		_, err = threads.Handle(ctx, es.Request[thread.Command]{
			Caller: caller, ID: c.Target.ID, Command: withdraw, Name: c.Name, Content: content, IdempotencyKey: idempotencyKey,
		})
		if errors.Is(err, thread.ErrNotMember) || errors.Is(err, thread.ErrThreadDeleted) || errors.Is(err, thread.ErrThreadNotFound) {
			return nil
		}
		return err
	}
}
