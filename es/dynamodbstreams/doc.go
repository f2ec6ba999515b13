// Package dynamodbstreams reads the journal's changes from DynamoDB Streams and hands them to a [projection.Sink].
//
// [Source] finds the table's stream and follows it (follow.go). It starts a reader for a shard once its parent has been
// read to the end and that position is stored. A reader polls its shard, hands over each page with the position after
// it, and continues when both are stored. So after a crash records may come again, but none is lost.
//
// The stream keeps records for 24 hours. If a position cannot prove that no record after it was trimmed (there was
// none, its record or shard is trimmed, or it is too old), the source requests a repair from the journal before it
// reads on. The request is stored until the repair is done.
package dynamodbstreams
