// Package stream is where the projection's records come from. A source - its sub-package dynamodbstreams today; a
// relational queue or a Lambda handler can stand beside it - reads the journal's changes, makes a [projection.Record] out of
// each ([Entry]) and hands them in batches to a [Projector], together with the position to remember.
//
// On an event's path it stands between the journal that a gateway wrote and usecase/projection. A source promises that
// every record is handed over at least once; order, duplicates and gaps are the projection's business.
package stream
