package chat

import (
	"example.com/threads/domain/account"
	"example.com/threads/es"
)

// AccountCommands is the service that handles commands on accounts.
type AccountCommands = es.Service[account.Account, account.Command, account.Event]
