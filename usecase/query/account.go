package query

import (
	"context"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/es"
)

// Account is the row of an account. A closed account keeps its name.
type Account struct {
	Tenant    es.Tenant
	ID        account.ID
	Name      string
	Closed    bool
	Version   uint64 // the seq_nr of the last event in the row
	CreatedAt time.Time
	UpdatedAt time.Time
	Audit
}

// AccountReader reads accounts, including closed ones.
type AccountReader interface {
	// Accounts returns the existing accounts among these.
	Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]Account, error)
}

// Account returns the account, or [account.ErrAccountNotFound].
func (q *Queries) Account(ctx context.Context, tenant es.Tenant, id account.ID) (Account, error) {
	found, err := q.Accounts(ctx, tenant, []account.ID{id})
	if err != nil {
		return Account{}, err
	}
	row, exists := found[id]
	if !exists {
		return row, account.ErrAccountNotFound
	}
	return row, nil
}
