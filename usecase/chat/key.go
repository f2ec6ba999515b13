package chat

import (
	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// ThreadKey returns the key of a tenant's thread.
func ThreadKey(tenant usecase.Tenant, id thread.ID) usecase.Key {
	return usecase.Key{Tenant: tenant, Type: thread.AggregateType, ID: id.String()}
}

// ThreadID returns the thread's id in a key; zero if the key is not a thread's.
func ThreadID(key usecase.Key) thread.ID { return idOf[thread.Thread](key, thread.AggregateType) }

// AccountID returns the account's id in a key; zero if the key is not an account's.
func AccountID(key usecase.Key) account.ID {
	return idOf[ident.UserAccount](key, account.AggregateType)
}

func idOf[T any](key usecase.Key, aggregateType string) ident.Of[T] {
	id, err := ident.Parse[T](key.ID)
	if err != nil || key.Type != aggregateType {
		return ident.Of[T]{}
	}
	return id
}
