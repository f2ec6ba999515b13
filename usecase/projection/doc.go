// Package projection is the engine that turns events into rows, whatever they are about. A source - a stream, a queue -
// hands batches of journal records to a [Projector]. The projector brings them into each aggregate's order, fills what
// is missing from the [Journal], and changes rows, positions and the source's checkpoint in one transaction of the
// [Store]. What an event does to which rows is said by a [Handler] for each aggregate type; the engine knows none of
// them.
//
// The source is a hint and the journal is the truth: records may come twice, late, in any order, broken or not at all,
// and the rows still end up as the journal says. An aggregate that can't go on is parked and tried again later; the
// others do not wait for it. An event of a type without a handler is never skipped in silence (types.go).
//
// Several projections can follow one source beside each other, each with a name, positions, checkpoints and dead
// letters of its own. Before this package stands interfaceadaptor/stream, behind it
// interfaceadaptor/readmodel/projectionstore.
package projection
