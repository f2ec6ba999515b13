// Package projection turns events into the read model. A source - a stream, a queue - hands batches of journal
// records to a [Projector]; the projector brings them into each thread's order, fills what is missing from the journal, and
// changes rows and checkpoint in one transaction of the [ReadModel].
//
// The source is a hint and the journal is the truth: records may come twice, late, in any order, broken or not at
// all, and the read model still ends up as the journal says.
package projection
