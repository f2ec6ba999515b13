package chatstore

import (
	"example.com/threads/domain/account"
	"example.com/threads/es/command"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/repository"
	"example.com/threads/interfaceadaptor/accountcodec"
)

// AccountRepository loads and saves accounts.
type AccountRepository = repository.Repository[account.Account, account.Event]

var _ command.Repository[account.Account, account.Event] = (*AccountRepository)(nil)

// NewAccountRepository returns the repository of accounts over gateway.
func NewAccountRepository(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *AccountRepository {
	return repository.New(gateway, accountcodec.Events(), accountcodec.Snapshots{}, account.Account.Apply, settings)
}
