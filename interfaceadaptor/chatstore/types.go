package chatstore

import (
	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase/chat"
)

// ThreadRepository loads and saves threads over an [es.EventPersistenceGateway].
type ThreadRepository = es.Repository[thread.Thread, thread.Event]

// AccountRepository loads and saves accounts over an [es.EventPersistenceGateway].
type AccountRepository = es.Repository[account.Account, account.Event]

// Types returns all aggregate types.
func Types() []es.AnyAggregate {
	return []es.AnyAggregate{
		Threads(),
		Accounts(),
	}
}

// Threads is the aggregate type of threads.
func Threads() es.Aggregate[thread.Thread, thread.Command, thread.Event] {
	return es.Aggregate[thread.Thread, thread.Command, thread.Event]{
		Decide: thread.Decide, Apply: thread.Thread.Apply, Usable: thread.Thread.Usable, Answer: chat.ThreadAnswer,
		Events: threadcodec.Events(), Snapshots: threadcodec.Snapshots{},
	}
}

// Accounts is the aggregate type of accounts.
func Accounts() es.Aggregate[account.Account, account.Command, account.Event] {
	return es.Aggregate[account.Account, account.Command, account.Event]{
		Decide: account.Decide, Apply: account.Account.Apply, Usable: account.Account.Usable,
		Events: accountcodec.Events(), Snapshots: accountcodec.Snapshots{},
	}
}
