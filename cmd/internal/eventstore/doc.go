// Package eventstore opens the event store that EVENT_STORE selects ([Open]) and its source of changes for the
// projection ([Store.Source]). It hides the differences between the stores from the programs, which only see a gateway
// and a source.
package eventstore
