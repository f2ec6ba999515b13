package chat

import (
	"example.com/threads/domain/account"
	"example.com/threads/es"
)

// AccountCommands is the service that handles commands on accounts.
type AccountCommands = es.Service[account.Account, account.Command, account.Event]

// Accounts returns the decider of accounts.
func Accounts() es.Decider[account.Account, account.Command, account.Event] {
	return es.Decider[account.Account, account.Command, account.Event]{
		Type:   account.AggregateType,
		Decide: account.Decide,
		Apply:  account.Account.Apply,
		Answer: func([]account.Event) map[string]string { return nil },
		Usable: account.Account.Usable,
	}
}
