// Package estest tests aggregates and event stores.
//
// [Given] begins a test of an aggregate's rules. [Run] tests the contract of es.EventPersistenceGateway with one call;
// a gateway's tests provide the store's faults in a [Harness]. The suite knows no store. The store may hold other data:
// the suite creates its aggregates with new ULIDs and reads no others.
package estest
