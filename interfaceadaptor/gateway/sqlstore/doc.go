// Package sqlstore is the EventPersistenceGateway in a relational database, SQLite or MySQL and MariaDB: the end of a
// command's path. Package repository defines the port and calls it; gateway/gatewaytest is the contract that it passes;
// rdb-migration/eventstore makes its tables and says what is in them; package sqldialect knows how the databases differ.
//
// [Gateway] writes. An Append compares the expected version with the aggregate's row, moves it on, and adds events and
// receipts, in one transaction; append.go has all of it. The transaction is a matter of the database:
//
//   - On SQLite, where only one can write, groupWriter lets the Appends that arrive together share a transaction, and
//     with it one wait for the disk.
//   - On MySQL, transactionWriter gives each a transaction of its own, READ COMMITTED, and repeats those that met another one.
//
// [Queue] gives the same events out again by sequence number, to interfaceadaptor/stream/relational and through it to
// the projection. holes.go says why nothing is skipped although transactions on MySQL commit in any order.
//
// Reads see every Append that was acknowledged, and have no more than a page in memory.
package sqlstore
