// Package eventstore is the port between the application and its event stores: [EventPersistenceGateway], a journal of
// events with a head and snapshots for every aggregate. It knows types, ids, numbers and payloads, and nothing of what
// is in them.
//
// The repository and the projection call it; gateway/dynamodb and gateway/sqlstore fill it, and gateway/gatewaytest is
// its contract as a test suite. It imports nothing of the module, so that a gateway needs nothing else of it.
package eventstore
