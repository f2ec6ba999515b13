// Package publishing is the engine that publishes every event to a broker. It is another projection: the source's
// records go through a [projection.Projector], with its positions, gaps from the journal, parking and repair. Instead
// of writing rows in a transaction, it publishes the events: [Publisher] is the projector's store, and stores positions
// and checkpoints once the broker has accepted the events. No database transaction is open during calls to the broker.
//
// The engine knows no aggregate type and no broker: extras/publishing/publisher has the formats and the brokers.
package publishing
