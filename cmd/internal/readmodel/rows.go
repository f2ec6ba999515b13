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
	names := chatrows.Tables()
	names = append(names, tasks.Rows.Name)   // extra:tasks
	names = append(names, tenants.Rows.Name) // extra:tenants
	return names
}

// Handlers returns what keeps the rows.
func Handlers() []projection.Handler {
	handlers := chatrows.Handlers()
	handlers = append(handlers, tasks.Handler())   // extra:tasks
	handlers = append(handlers, tenants.Handler()) // extra:tenants
	return handlers
}

// Schemas returns the schemas of the read model's database.
func Schemas() []migration.Set {
	sets := rdbmigration.ReadModel()
	sets = append(sets, tasks.Schema())   // extra:tasks
	sets = append(sets, tenants.Schema()) // extra:tenants
	return sets
}
