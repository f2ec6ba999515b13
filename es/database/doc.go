// Package database opens the relational databases of the programs (MySQL, MariaDB, SQLite). All important settings are
// explicit, so that a statement behaves the same in every program and on every server.
//
// A program opens a pool and passes it to the adapters as a *sqlx.DB whose DriverName is [MySQL] or [SQLite]. Those ask
// what an error means ([IsTransient], [IsDuplicate]) whatever the database is.
package database
