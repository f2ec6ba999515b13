package readmodel

import (
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	rdbmigration "example.com/threads/rdb-migration"
)

// Tables returns the names of the tables of all rows.
func Tables() []string {
	return append(chatrows.Tables(),
		tasks.Rows.Name,   // extra:tasks
		tenants.Rows.Name, // extra:tenants
	)
}

// Handlers returns what keeps the rows.
func Handlers() []projection.Handler {
	return append(chatrows.Handlers(),
		tasks.Handler(),   // extra:tasks
		tenants.Handler(), // extra:tenants
	)
}

// Schemas returns the schemas of the read model's database.
func Schemas() []migration.Set {
	return append(rdbmigration.ReadModel(),
		tasks.Schema(),   // extra:tasks
		tenants.Schema(), // extra:tenants
	)
}
