// Package dynamodb is the EventPersistenceGateway on DynamoDB: the end of a command's path. Package repository defines
// the port and calls it; gateway/gatewaytest is the contract that it passes; tools/dynamodb-setup creates its tables; the
// consumer in interfaceadaptor/stream reads what it wrote from the journal's stream.
//
// # Items
//
// <shard> is the FNV-1a 64 of the ULID's (or the command id's) text, modulo the number of logical shards. The pkey of a
// tenant with a code begins with the code and #; the aid does not, so an index shows tenants side by side and what it
// yields is filtered by pkey.
//
// Journal table, one kind of item. Index journal-aid-index on aid and seq_nr, with all attributes.
//
//	pkey         S  [<tenant>#]<type>-<shard>
//	skey         S  <type>-<ulid>-<seq_nr>
//	aid          S  <type>-<ulid>
//	seq_nr       N  1, 2, 3 ...
//	payload      S  the event, JSON
//	occurred_at  N  milliseconds since 1970
//	event_id     S  tells a write whose answer was lost from somebody else's
//
// Snapshot table, head: the aggregate's lock and pointer, under 1 KB apart from its payload, because each command is
// charged for the whole of it.
//
//	pkey, aid           S  as in the journal
//	skey                S  <type>-<ulid>-0
//	seq_nr              N  0
//	version             N  seq_nr of the last event
//	snapshot_version    N  version of the latest complete snapshot; missing: none
//	asked               BOOL  a writer that others keep ahead of wants a turn; gone with the next write
//	payload             S  the state after event 1, JSON
//
// Snapshot table, a snapshot. Index snapshot-aid-index on aid and seq_nr finds it, with checksum, parts and ttl.
//
//	pkey, aid           S  as in the journal
//	skey                S  <type>-<ulid>-<version>
//	seq_nr              N  the version
//	payload             B  the state, compressed: all of it, or its beginning
//	encoding            S  zstd; missing: not compressed
//	checksum            S  SHA-256, hexadecimal, of the whole compressed state
//	parts               N  how many items the rest is in; missing: none
//	ttl                 N  seconds since 1970, once it has been superseded and SNAPSHOT_TTL is set
//
// Snapshot table, a part of a snapshot of over 300 KB. Without aid and seq_nr it stays out of the index.
//
//	pkey                S  as in the journal
//	skey                S  <skey of the snapshot>-<first 16 of the checksum>-<1, 2, 3 ...>
//	payload             B  the next piece
//	ttl                 N  as in the snapshot
//
// Snapshot table, a receipt: the answer to a command with an idempotency key, out of the index too.
//
//	pkey                S  [<tenant>#]command-<shard>
//	skey                S  command-<command id>
//	fingerprint         S  of the request
//	answer              B
//	ttl                 N  seconds since 1970
//
// A payload may be S or B wherever it is read. DynamoDB deletes expired items when it finds the time, so a receipt's
// ttl is looked at whenever it is read or written over.
package dynamodb
