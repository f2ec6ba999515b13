// Package usecase holds what the use cases share: who asks ([Caller]), what is recorded about an event ([Envelope],
// [Recorded]) and the one classification of errors ([KindOf]).
//
// The use cases themselves are its sub-packages: command (load, decide, save), projection (event to read model) and
// query (what can be asked). They know the domain, and the adapters know them.
package usecase
