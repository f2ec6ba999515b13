// Package publishing is the engine that hands every event to a broker. It is one more projection: the source's records
// go through a [projection.Projector], whose positions, gaps from the journal, parking and repair are the same as those
// of rows. What a transaction of rows is for a read model is a hand-over to the broker here: [Publisher] is the
// projector's store, and stores positions and checkpoints once the broker has accepted the events. No transaction of
// the database is open meanwhile.
//
// The engine knows no aggregate type and no broker: interfaceadaptor/publisher has the formats and the brokers.
package publishing
