package repository

import (
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

func aggregateOf(key usecase.Key) eventstore.AggregateID {
	return eventstore.AggregateID{Tenant: key.Tenant.String(), Type: key.Type, ULID: key.ID}
}
