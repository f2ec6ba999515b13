package sqlstore

import (
	"embed"
	"io/fs"

	"example.com/threads/es/migration"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of the tables of the event store.
func Schema() migration.Set {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}
	return migration.Set{Name: "event store", Table: "eventstore_migrations", Files: files}
}
