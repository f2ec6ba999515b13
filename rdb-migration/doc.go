// Package rdbmigration holds the schemas of the relational databases and brings databases to them, forwards and back.
//
// A [Set] is a schema that has a life of its own, with a version table of its own, so that several may live in one
// database. `make migrate` and the compose file's one-shot service run it through cmd/migrate; programs make sure of
// their schema with [Check] before they begin; tests call [Up] on a fresh database.
package rdbmigration
