// Package stream is where the projection's records come from. A source - dynamodbstreams or relational, its
// sub-packages; a Lambda handler can stand beside them - reads the journal's changes, makes a [projection.Record] out of
// each ([Entry]) and hands them in batches to a [Projector], together with the position to remember. How often it looks
// ([Pace]), how it outlasts failures ([Persist]) and how it hands over ([HandOver]) is the same for all of them.
//
// On an event's path it stands between the journal that a gateway wrote and usecase/projection. A source promises that
// every record is handed over at least once; order, duplicates and gaps are the projection's business.
package stream
