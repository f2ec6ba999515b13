// Package eventstore defines the port to event stores: [EventPersistenceGateway], a journal of events with a head and
// snapshots for every aggregate. It knows types, ids, numbers and payloads, but not what payloads contain.
//
// The repository and the projection call the port; gateway/dynamodb and gateway/sqlstore implement it, and
// estest tests its contract. It imports no other package of the module, so a gateway depends on nothing
// else.
package eventstore
