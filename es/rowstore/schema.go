package rowstore

import (
	"embed"

	"example.com/threads/es/migration"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of the tables of positions, checkpoints, dead letters and the commands of process
// managers.
func Schema() migration.Set {
	return migration.Set{Name: "projections", Table: "projections_migrations", Files: migrations, Folder: "migrations"}
}
