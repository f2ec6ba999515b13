// Package es is the vocabulary of the library: who asks ([Caller]), what is recorded about an event ([Envelope],
// [Recorded]), which aggregate it belongs to ([AggregateID]), and the one classification of errors ([KindOf]).
//
// A [Service] handles the commands of an aggregate type: it loads an aggregate through its [Repository], from a
// snapshot and the events after it, has the [Aggregate] decide, and appends the events to an event store, the
// [EventPersistenceGateway]: package dynamodb or sqlstore. From there the events come back through a source of changes
// (dynamodbstreams, sqlqueue) to the package projection, whose positions are in rowstore. estest tests event stores.
package es
