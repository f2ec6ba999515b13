package chat

import (
	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// ThreadKey returns the key of a tenant's thread.
func ThreadKey(tenant es.Tenant, id thread.ID) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: thread.AggregateType, ID: id.String()}
}

// ThreadID returns the thread's id in a key; zero if the key is not a thread's.
func ThreadID(key es.AggregateID) thread.ID { return idOf[thread.Thread](key, thread.AggregateType) }

// AccountID returns the account's id in a key; zero if the key is not an account's.
func AccountID(key es.AggregateID) account.ID {
	return idOf[ident.UserAccount](key, account.AggregateType)
}

func idOf[T any](key es.AggregateID, aggregateType string) ident.Of[T] {
	id, err := ident.Parse[T](key.ID)
	if err != nil || key.Type != aggregateType {
		return ident.Of[T]{}
	}
	return id
}
