// Package publishing is the engine that publishes every event to a broker. It is another projection: the source's
// records go through a [projection.Projector], with its positions, gaps from the journal, parking and repair. Instead
// of writing rows in a transaction, it publishes the events: [Publisher] is the projector's store, and stores positions
// and checkpoints once the broker has accepted the events. No database transaction is open during calls to the broker.
//
// It knows no aggregate type and no broker: the program hands it both. The packages nats, kafka and webhook have the
// brokers.
package publishing
