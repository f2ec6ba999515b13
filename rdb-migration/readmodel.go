// Package rdbmigration holds the schema of the read model's rows, for [ReadModel].
//
// `make migrate` and the one-shot service of the compose file run cmd/migrate.
package rdbmigration

import (
	"embed"

	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
)

//go:embed readmodel/*/*.sql
var files embed.FS

// ReadModel returns the schemas of the database that read-model-updater writes and read-api reads.
func ReadModel() []migration.Set {
	return []migration.Set{rowstore.Schema(), {Name: "read model", Table: "readmodel_migrations", Files: files, Folder: "readmodel"}}
}
