// Package rdbmigration holds the schema of the read model's rows. [ReadModel] returns it together with that of the
// library's tables in the same database.
//
// `make migrate` and the one-shot service of the compose file run cmd/migrate.
package rdbmigration
