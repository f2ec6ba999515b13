// Package sqlqueue reads the events of a relational event store and hands them to the projection. The event store is
// the queue; its sequence number is the position.
//
// [Source] reads the events after its position page by page, has them projected, and continues when rows and position
// are stored in one transaction of the read model. So after a crash events may come again, but none is lost. In the
// process that writes, each commit wakes it ([Source.Wake]); other processes poll. [Source.Lag] and [Source.Health]
// report how far it is behind and whether it makes progress.
//
// It stands between sqlstore, whose Queue guarantees that no event is skipped, and projection.
package sqlqueue
