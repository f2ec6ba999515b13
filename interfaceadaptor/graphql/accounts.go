package graphql

import (
	"context"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

type Account struct {
	query.Account
	ID string
}

func (r Resolver) GetAccount(ctx context.Context, accountID string) (Account, error) {
	id, err := ParseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return Account{}, err
	}
	found, err := r.Queries.Account(ctx, askerOf(ctx).Tenant, id)
	return Account{found, id.String()}, err
}

// accounts are the accounts of all rows on one level of an answer. The first access reads all of them in one statement.
type accounts struct {
	from   query.Reader
	tenant es.Tenant
	ids    []account.ID
	found  onceEach[struct{}, map[account.ID]query.Account]
}

// read returns an account; nil: it does not exist.
func (a *accounts) read(ctx context.Context, id account.ID) (*Account, error) {
	found, err := a.found.get(struct{}{}, func() (map[account.ID]query.Account, error) { return a.from.Accounts(ctx, a.tenant, a.ids) })
	row, exists := found[id]
	if err != nil || !exists {
		return nil, err
	}
	return &Account{row, id.String()}, nil
}
