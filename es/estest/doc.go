// Package estest tests aggregates and event stores.
//
// [Given] begins a test of an aggregate's rules. [Run] tests the contract of es.EventPersistenceGateway with one call;
// a gateway's tests provide the store's faults in a [Harness]. [RunJournal], [RunSequences], [RunSpool] and
// [RunMaintainer] test what the gateway does beside that. The suites know no store. The store may hold other data: the
// suites create their aggregates with new ULIDs and read no others.
package estest
