package query

import (
	"context"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/es"
)

// AccountReader reads accounts, including closed ones.
type AccountReader interface {
	// Accounts returns the existing accounts among these, including closed ones.
	Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]Account, error)
}

// Account is the row of an account. A closed account keeps its name.
type Account struct {
	Tenant    es.Tenant  `db:"tenant_code"`
	ID        account.ID `db:"id"`
	Name      string     `db:"name"`
	Closed    bool       `db:"closed"`
	Version   uint64     `db:"version"` // the seq_nr of the last event in the row
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt time.Time  `db:"updated_at"`
	Audit
}

// Account returns the account, or [account.ErrAccountNotFound].
func (q *Queries) Account(ctx context.Context, tenant es.Tenant, id account.ID) (Account, error) {
	found, err := q.Accounts(ctx, tenant, []account.ID{id})
	row, exists := found[id]
	if err == nil && !exists {
		err = account.ErrAccountNotFound
	}
	return row, err
}
