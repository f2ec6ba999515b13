package erasure

import (
	"embed"
	"io/fs"

	"example.com/threads/es/migration"
)

//go:embed migrations
var migrations embed.FS

// Schema returns the migrations of the keys' table, which is in the database of a relational event store.
func Schema() migration.Set {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}
	return migration.Set{Name: "keys of people", Table: "erasure_migrations", Files: files}
}
