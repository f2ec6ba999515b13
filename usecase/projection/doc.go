// Package projection turns events into the read model. A source - a stream, a queue - hands batches of journal
// records to a [Projector]; the projector brings them into each thread's order, fills what is missing from the [Journal],
// and changes rows and checkpoint in one transaction of the [ReadModel].
//
// The source is a hint and the journal is the truth: records may come twice, late, in any order, broken or not at
// all, and the read model still ends up as the journal says. A thread that can't go on is parked and tried again later;
// the others do not wait for it.
//
// Where to look: fold.go says what each event does to the rows, apply.go what one transaction does, fill.go how gaps are
// closed. Before it stand interfaceadaptor/stream and interfaceadaptor/eventcodec, behind it
// interfaceadaptor/readmodel/projectionstore; package query reads what it wrote.
package projection
