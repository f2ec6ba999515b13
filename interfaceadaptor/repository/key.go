package repository

import (
	"errors"
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

// AggregateType is what event stores know threads as.
const AggregateType = "thread"

func aggregateOf(key usecase.ThreadKey) eventstore.AggregateID {
	return eventstore.AggregateID{Tenant: key.Tenant.String(), Type: AggregateType, ULID: key.Thread.String()}
}

// KeyOf reads which thread an aggregate of type [AggregateType] is.
func KeyOf(id eventstore.AggregateID) (usecase.ThreadKey, error) {
	key, errID := thread.ParseID[thread.Thread](id.ULID)
	tenant, errTenant := usecase.ParseTenant(id.Tenant)
	if err := errors.Join(errID, errTenant); err != nil {
		return usecase.ThreadKey{}, fmt.Errorf("aggregate %s of tenant %q is no thread: %w", id, id.Tenant, err)
	}
	return usecase.ThreadKey{Tenant: tenant, Thread: key}, nil
}
