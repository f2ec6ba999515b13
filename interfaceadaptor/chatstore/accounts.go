package chatstore

import (
	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/accountcodec"
)

// AccountRepository loads and saves accounts.
type AccountRepository = es.Repository[account.Account, account.Event]

// NewAccountRepository returns the repository of accounts over gateway.
func NewAccountRepository(gateway es.EventPersistenceGateway, settings es.Settings) *AccountRepository {
	return es.NewRepository(gateway, accountcodec.Events(), accountcodec.Snapshots{}, account.Account.Apply, settings)
}
