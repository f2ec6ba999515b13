package chatrows

import (
	"context"
	"fmt"
	"slices"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/usecase/chat"
)

// LeaveOnCloseHandlers returns the handlers of [chat.LeaveOnClose], which put its commands into outbox.
func LeaveOnCloseHandlers(outbox process.Outbox) []projection.Handler {
	return chat.LeaveOnCloseHandlers(Memberships{}, outbox, chatstore.Threads().Events, changesMembers, chatstore.Accounts().Events)
}

// changesMembers reports whether an event of a thread may change who its members are.
func changesMembers(payload []byte) bool {
	switch es.EventName(payload) {
	case messagePosted, messageEdited, messageDeleted:
		return false
	default:
		return true
	}
}

var (
	messagePosted  = chatstore.Threads().Events.EventType(thread.MessagePosted{})
	messageEdited  = chatstore.Threads().Events.EventType(thread.MessageEdited{})
	messageDeleted = chatstore.Threads().Events.EventType(thread.MessageDeleted{})
)

// accountRow is the row of a user account.
type accountRow struct {
	tenant es.Tenant
	user   ident.UserID
	closed chat.Closing // zero: not closed
}

var (
	knownAccounts = table.Table[accountRow]{
		Name: "leave_on_close_accounts", Key: 2, Columns: []string{"tenant_code", "account_id", "closed_by", "correlation_id"},
		ID: func(r *accountRow) []string { return []string{r.tenant.String(), r.user.String()} },
		Fields: func(r *accountRow) []any {
			return []any{table.Tenant(&r.tenant), id(&r.user), &r.closed.EventID, &r.closed.CorrelationID}
		},
	}
	memberships = table.Table[chat.Membership]{
		Name: "leave_on_close_memberships", Key: 3, Columns: []string{"tenant_code", "account_id", "thread_id"},
		ID: func(r *chat.Membership) []string {
			return []string{r.Tenant.String(), r.User.String(), r.Thread.String()}
		},
		Fields: func(r *chat.Membership) []any { return []any{table.Tenant(&r.Tenant), id(&r.User), id(&r.Thread)} },
	}
)

// Memberships implements [chat.MembershipStore] in transactions of a [rowstore.Store].
type Memberships struct{}

// Lock implements [chat.MembershipStore].
func (Memberships) Lock(ctx context.Context, tx projection.Tx, accounts []chat.AccountRow) (map[chat.AccountRow]chat.Closing, error) {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return nil, err
	}
	keys := make([][]string, len(accounts))
	for i, account := range accounts {
		keys[i] = []string{account.Tenant.String(), account.ID.String()}
	}
	known := make(map[chat.AccountRow]bool, len(accounts))
	closed := make(map[chat.AccountRow]chat.Closing)
	err = knownAccounts.Load(ctx, in, keys, in.Dialect.ForUpdate(), func(row accountRow) {
		account := chat.AccountRow{Tenant: row.tenant, ID: row.user}
		known[account] = true
		if row.closed.EventID != "" {
			closed[account] = row.closed
		}
	})
	if err != nil {
		return nil, in.Explain("lock user accounts", err)
	}
	var unknown []accountRow
	for _, account := range accounts {
		if !known[account] {
			unknown = append(unknown, accountRow{tenant: account.Tenant, user: account.ID})
		}
	}
	err = knownAccounts.Insert(ctx, in, in.Dialect, unknown)
	if database.IsDuplicate(err) {
		return nil, fmt.Errorf("store user accounts: %w: %w", projection.ErrTransient, err)
	}
	return closed, in.Explain("store user accounts", err)
}

// Close implements [chat.MembershipStore].
func (Memberships) Close(ctx context.Context, tx projection.Tx, closed map[chat.AccountRow]chat.Closing) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	rows := make([]accountRow, 0, len(closed))
	for account, by := range closed {
		rows = append(rows, accountRow{account.Tenant, account.ID, by})
	}
	return in.Explain("close user accounts", knownAccounts.Upsert(ctx, in, in.Dialect, rows))
}

// Of implements [chat.MembershipStore].
func (Memberships) Of(ctx context.Context, tx projection.Tx, of chat.AccountRow) (found []chat.Membership, err error) {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return nil, err
	}
	err = memberships.Query(ctx, in, func(row chat.Membership) { found = append(found, row) },
		"SELECT tenant_code, account_id, thread_id FROM leave_on_close_memberships WHERE tenant_code = ? AND account_id = ?",
		of.Tenant.String(), of.ID.String())
	return found, in.Explain("read memberships", err)
}

// Change implements [chat.MembershipStore].
func (Memberships) Change(ctx context.Context, tx projection.Tx, left []chat.Membership, ended []es.AggregateID, joined []chat.Membership) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	var keys [][]string
	for _, changed := range [][]chat.Membership{left, joined} { // after a restore, those that join may be known already
		for i := range changed {
			keys = append(keys, memberships.ID(&changed[i]))
		}
	}
	if err := memberships.Delete(ctx, in, keys); err != nil {
		return in.Explain("end memberships", err)
	}
	threads := make([][]string, len(ended))
	for i, key := range ended {
		threads[i] = []string{key.Tenant.String(), key.ID}
	}
	slices.SortFunc(threads, slices.Compare)
	for some := range slices.Chunk(threads, 500) {
		where, args := table.Where([]string{"tenant_code", "thread_id"}, some)
		if _, err := in.ExecContext(ctx, "DELETE FROM leave_on_close_memberships WHERE "+where, args...); err != nil {
			return in.Explain("end the memberships of threads", err)
		}
	}
	return in.Explain("begin memberships", memberships.Insert(ctx, in, in.Dialect, joined))
}
