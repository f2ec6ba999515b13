// Package projection is the engine that turns events into rows of a read model. A source, such as a stream or a queue,
// hands batches of journal records to a [Projector]. The projector sorts them by aggregate and SeqNr, reads missing
// events from the journal, and changes rows, positions and the source's checkpoint in one transaction of the [Store].
// A [Handler] per aggregate type says what an event does to which rows. The engine knows no aggregate type.
//
// The source is only a hint; the journal holds the truth. Records may arrive twice, late, in any order, broken or not
// at all: the rows still end up as the journal says. An aggregate that cannot be projected is parked and retried later;
// the others do not wait for it. Events of a type without a handler are reported, and projected once there is one.
//
// Several projections can read one source, each with its own name, positions, checkpoints and dead letters. The sources
// are in dynamodbstreams and sqlstore; another, such as a Lambda handler, calls the [Sink], too. The store is rowstore.
package projection
