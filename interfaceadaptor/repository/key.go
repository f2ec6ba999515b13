package repository

import (
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// AggregateType is what event stores know threads as.
const AggregateType = "thread"

func aggregateOf(key usecase.Key) eventstore.AggregateID {
	return eventstore.AggregateID{Tenant: key.Tenant.String(), Type: key.Type, ULID: key.ID}
}

// KeyOf reads which thread an aggregate of type [AggregateType] is.
func KeyOf(id eventstore.AggregateID) (usecase.Key, error) {
	key, errID := ident.Parse[thread.Thread](id.ULID)
	tenant, errTenant := usecase.ParseTenant(id.Tenant)
	if err := errors.Join(errID, errTenant); err != nil {
		return usecase.Key{}, fmt.Errorf("aggregate %s of tenant %q is no thread: %w", id, id.Tenant, err)
	}
	return chat.ThreadKey(tenant, key), nil
}
