// Package estest tests the contract of es.EventPersistenceGateway. A gateway's tests run the suite with
// one call of [Run] and provide the store's faults in a [Harness]. The suite knows no store.
//
// The store may hold other data: the suite creates its aggregates with new ULIDs and reads no others.
package estest
