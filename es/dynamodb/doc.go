// Package dynamodb implements the EventPersistenceGateway on DynamoDB. A repository calls it; estest tests its
// contract; [Tables] defines its tables; package dynamodbstreams reads the journal's stream.
//
// # Items
//
// <shard> is the FNV-1a 64 hash of the text of the ULID (or command id, sequence, file, part of a file, or owner),
// modulo the number of logical shards. With several numbers, an aggregate's is the one under which it was created, and
// that of all other items is the lowest. The pkey of a tenant with a code begins with the code and #. The aid does not,
// so index queries must filter by pkey.
//
// Journal table, one kind of item. Index journal-aid-index on aid and seq_nr, with all attributes.
//
//	pkey         S  [<tenant>#]<type>-<shard>
//	skey         S  <type>-<ulid>-<seq_nr>
//	aid          S  <type>-<ulid>
//	seq_nr       N  1, 2, 3 ...
//	payload      S  the event, JSON
//	occurred_at  N  milliseconds since 1970
//	event_id     S  recognises a write whose answer was lost
//
// Snapshot table, head: the aggregate's optimistic lock and snapshot pointer. Apart from its payload it stays under 1
// KB, because each command is charged for the whole item.
//
//	pkey, aid           S  as in the journal
//	skey                S  <type>-<ulid>-0
//	seq_nr              N  0
//	version             N  seq_nr of the last event
//	snapshot_version    N  version of the latest complete snapshot; 0 or missing: none
//	asked               BOOL  a writer in conflict asks the others to yield; removed by the next write
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
//	parts               N  number of further items with the rest; missing: none
//	ttl                 N  seconds since 1970, once it has been superseded and [Settings].SnapshotTTL is set
//
// Snapshot table, a part of a snapshot of over 300 KB, with the next piece as payload, and ttl. Without aid and seq_nr
// it stays out of the index. Its skey is <skey of the snapshot>-<first 16 of the checksum>-<1, 2, 3 ...>.
//
// Snapshot table, four kinds of items with pkey [<tenant>#]<kind>-<shard> and skey <kind>-<name>, out of the index too.
//
//	kind      name
//	command   <command id>     a receipt: fingerprint S of the request with an idempotency key, answer B, ttl N
//	sequence  <name>           a sequence: drawn N, the last number
//	file      <file>-<number>  a part of a file: payload B, compressed; encoding, checksum and ttl as in a snapshot
//	held      <owner>          the bytes in all files of an owner, or of a tenant (without an owner): held N
//
// Snapshot table, a file, which names its parts. It expires with them, but is deleted by [Gateway.DeleteExpired] alone.
// Its pkey is files-<shard> of <tenant>#<name>, its skey files-<seconds since 1970, 12 digits>-<tenant>#<name>; other
// attributes are tenant_code, file, owner, expires_at, held (N, bytes of its parts) and parts (N, their number).
//
// former.go reads the documents' form of events, heads and snapshots. A payload may be read as S or B. DynamoDB
// deletes expired items late, so the ttl of a receipt or a file is checked whenever it is read.
package dynamodb
