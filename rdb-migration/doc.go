// Package rdbmigration holds the schemas of the relational databases and migrates databases up and down.
//
// A [Set] is an independent schema with its own version table, so that several sets can share a database. `make
// migrate` and the one-shot service of the compose file run cmd/migrate; programs verify their schema with [Check] when
// they start; tests call [Up] on a new database.
package rdbmigration
