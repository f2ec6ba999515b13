package rdbmigration

import (
	"embed"
	"io/fs"

	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
)

//go:embed readmodel/*/*.sql
var files embed.FS

// ReadModel returns the schemas of the database that read-model-updater writes and read-api reads.
func ReadModel() []migration.Set {
	rows, err := fs.Sub(files, "readmodel")
	if err != nil {
		panic(err) // the name is a constant
	}
	return []migration.Set{rowstore.Schema(), {Name: "read model", Table: "readmodel_migrations", Files: rows}}
}
