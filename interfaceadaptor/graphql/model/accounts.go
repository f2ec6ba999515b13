package model

import (
	"context"
	"sync"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Accounts are the accounts of all rows on one level of an answer. The first access reads all of them in one statement.
type Accounts struct {
	from   query.AccountReader
	tenant es.Tenant
	ids    []account.ID

	once  sync.Once
	found map[account.ID]query.Account
	err   error
}

// AccountOf is the account of one row.
type AccountOf struct {
	all *Accounts
	id  account.ID
}

// Read returns the account; nil: it does not exist.
func (a AccountOf) Read(ctx context.Context) (*Account, error) {
	all := a.all
	all.once.Do(func() { all.found, all.err = all.from.Accounts(ctx, all.tenant, all.ids) })
	row, exists := all.found[a.id]
	if all.err != nil || !exists {
		return nil, all.err
	}
	found := NewAccount(row)
	return &found, nil
}

// NewMembers converts members that share one read of accounts.
func NewMembers(from query.AccountReader, tenant es.Tenant, rows ...query.Member) []Member {
	return with(rows, accountsOf(from, tenant, rows, userOf), NewMember)
}

// NewMessages converts messages that share one read of accounts.
func NewMessages(from query.AccountReader, tenant es.Tenant, rows ...query.Message) []Message {
	return with(rows, accountsOf(from, tenant, rows, senderOf), NewMessage)
}

func userOf(m query.Member) account.ID    { return m.User }
func senderOf(m query.Message) account.ID { return m.Sender }

func accountsOf[R any](from query.AccountReader, tenant es.Tenant, rows []R, id func(R) account.ID) *Accounts {
	all := &Accounts{from: from, tenant: tenant, ids: make([]account.ID, len(rows))}
	for i, row := range rows {
		all.ids[i] = id(row)
	}
	return all
}

func with[R, T any](rows []R, accounts *Accounts, form func(R, *Accounts) T) []T {
	converted := make([]T, len(rows))
	for i, row := range rows {
		converted[i] = form(row, accounts)
	}
	return converted
}
