// Package stream holds what all sources of journal changes share. A source (dynamodbstreams or relational, its
// sub-packages; a Lambda handler could be another) reads the journal's changes, converts each into a
// [projection.Record] ([Entry], [KeyOf]) and hands batches to a [Projector], with the position to store. It does not
// decode payloads. Polling ([Pace]), retries ([Retry]) and handing over ([HandOver]) are the same for all sources.
// Events that a source cannot deliver are read from the journal ([JournalReader]).
//
// A source stands between the journal that a gateway wrote and es/projection. It must hand over every record at
// least once; the projection handles order, duplicates and gaps.
package stream
