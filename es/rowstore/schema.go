package rowstore

import (
	"embed"
	"io/fs"

	"example.com/threads/es/migration"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of the tables of positions, checkpoints, dead letters and the commands of process
// managers.
func Schema() migration.Set {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}
	return migration.Set{Name: "projections", Table: "projections_migrations", Files: files}
}
