// Package stream is where a projection's records come from. A source - dynamodbstreams or relational, its sub-packages;
// a Lambda handler can stand beside them - reads the journal's changes, makes a [projection.Record] out of each
// ([Entry], [KeyOf]) and hands them in batches to a [Projector], together with the position to remember. It does not
// look into payloads. How often it looks ([Pace]), how it outlasts failures ([Retry]) and how it hands over
// ([HandOver]) is the same for all of them. What a source can't tell, the projection asks the journal
// ([JournalReader]).
//
// On an event's path it stands between the journal that a gateway wrote and usecase/projection. A source promises that
// every record is handed over at least once; order, duplicates and gaps are the projection's business.
package stream
