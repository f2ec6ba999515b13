package sqlstore

import (
	"embed"

	"example.com/threads/es/migration"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of the tables of the event store.
func Schema() migration.Set {
	return migration.Set{Name: "event store", Table: "eventstore_migrations", Files: migrations, Folder: "migrations"}
}
