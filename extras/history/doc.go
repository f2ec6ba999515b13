// Package history shows what happened: the events of threads and accounts, and a thread as it was at any version. It
// reads the event store, where the other queries read rows.
//
// history.go answers from the journal, graphql.go shows the answers as fields of Query (history.graphqls), and store.go
// opens the event store.
package history
