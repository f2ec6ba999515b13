// Package dynamodbstreams reads the journal's changes from DynamoDB Streams and hands them to a [stream.Projector].
//
// [Source] finds the table's stream and follows it. One coordinator (consumer) keeps the shards' family tree (lineage)
// up to date and starts a reader for a shard once its parent has been read to the end and that is stored. A reader
// polls its shard, hands over each page with the position after it, and goes on when both are stored: a crash anywhere
// means that records come again, never that they are missing.
//
// The stream forgets after 24 hours. Whenever a position can't prove that nothing was forgotten behind it - there was
// none, it is trimmed, its shard is gone, it is too old - the source asks the projector for a repair from the journal
// before it reads on. What is owed is stored, and stays owed until it is done.
//
// [Source.Lag] and [Source.Health] tell how far behind and whether the source still moves (status.go).
package dynamodbstreams
