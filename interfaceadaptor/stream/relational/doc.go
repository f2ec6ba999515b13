// Package relational chases a relational event store and hands its events to the projection: the event store is the
// queue, and its sequence number is all that has to be remembered.
//
// [Source] reads what is behind its position, page by page, has it projected, and goes on when rows and position are
// stored, in one transaction of the read model: a crash anywhere means that events come again, never that they are missing.
// Within the process that writes it is woken by each commit ([Source.Wake]); across processes it polls. [Source.Lag] and
// [Source.Health] tell how far behind it is and whether it still moves.
//
// On an event's path it stands between gateway/sqlstore, whose Queue it reads and which sees to it that nothing
// is skipped, and usecase/projection. Package stream says what all sources have in common.
package relational
