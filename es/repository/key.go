package repository

import (
	"example.com/threads/es"
	"example.com/threads/es/eventstore"
)

func aggregateOf(key es.Key) eventstore.AggregateID {
	return eventstore.AggregateID{Tenant: key.Tenant.String(), Type: key.Type, ULID: key.ID}
}
