// Package query answers questions about the read model: threads, their members and messages, as one viewer sees them.
// The GraphQL adapter calls [Queries]. The SQL reader in interfaceadaptor/readmodel/queryreader implements the ports in
// ports.go.
//
// The read model follows the journal with a delay. A [Watcher] lets a query wait for the version in its client's token,
// and a subscription for the next version.
package query
