package erasure

import (
	"embed"

	"example.com/threads/es/migration"
)

//go:embed migrations
var migrations embed.FS

// Schema returns the migrations of the keys' table, which is in the database of a relational event store.
func Schema() migration.Set {
	return migration.Set{Name: "keys of people", Table: "erasure_migrations", Files: migrations, Folder: "migrations"}
}
