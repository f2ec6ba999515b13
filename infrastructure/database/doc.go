// Package database opens the relational databases that the programs use - MySQL, MariaDB, SQLite - with every setting
// that matters set on purpose, so that a statement means the same in every program and on every server.
//
// cmd/* opens a pool here and hands it to the adapters, which know it as a *sqlx.DB whose DriverName is [MySQL] or
// [SQLite].
package database
