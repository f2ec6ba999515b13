// Package sqlstore implements the EventPersistenceGateway on a relational database: SQLite, MySQL or MariaDB. Package
// repository calls it; estest tests its contract; migrations creates and documents its
// tables; package sqldialect holds the differences between the databases.
//
// [Gateway] writes. An Append compares the expected version with the aggregate's row, updates the row, and inserts
// events and receipts, all in one transaction (append.go). The database decides who runs the transaction:
//
//   - On SQLite, which allows one writer, groupWriter lets concurrent Appends share a transaction, and with it one wait
//     for the disk.
//   - On MySQL, transactionWriter runs each Append in its own READ COMMITTED transaction, and retries those that
//     conflict.
//
// [Queue] reads the events of all aggregates by sequence number, for es/sqlqueue and through it
// for the projection. holes.go explains why no event is skipped although transactions on MySQL commit in any order.
//
// Reads see every acknowledged Append, and hold at most one page in memory.
package sqlstore
