// Package query is what can be asked of the read model: threads, their members and their messages, as one viewer sees
// them. The GraphQL adapter asks [Queries]; the ports in ports.go are answered by the SQL reader of
// interfaceadaptor/readmodel/queryreader.
//
// The read model follows the journal with a delay. A [Watcher] knows which versions have arrived: it lets a query wait for
// the version that its client has been told of, and a subscription for the next one.
package query
