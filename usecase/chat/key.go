package chat

import (
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// ThreadKey is the key of a tenant's thread.
func ThreadKey(tenant usecase.Tenant, id thread.ID) usecase.Key {
	return usecase.Key{Tenant: tenant, Type: thread.AggregateType, ID: id.String()}
}

// ThreadID is the thread that a key names; the zero value when it names none.
func ThreadID(key usecase.Key) thread.ID {
	id, err := ident.Parse[thread.Thread](key.ID)
	if err != nil || key.Type != thread.AggregateType {
		return thread.ID{}
	}
	return id
}
