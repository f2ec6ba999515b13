// Package es is the vocabulary of the library: who asks ([Caller]), what is recorded about an event ([Envelope],
// [Recorded]), which aggregate it belongs to ([Key]), and the one classification of errors ([KindOf]).
//
// A command's way leads through the package command (load, decide, save) and repository (an aggregate from its snapshot
// and events) to an event store behind the port eventstore: dynamodb or sqlstore. From there the events come back
// through a source of changes (dynamodbstreams, sqlqueue) to the package projection, whose positions are in rowstore.
package es
