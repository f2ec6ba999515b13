package system

import (
	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing" // extra:publishing
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/chat"
)

// Types returns the aggregate types that the programs know.
func Types() []es.AnyAggregate {
	types := eventjson.Types()
	types = append(types, task.Aggregate())    // extra:tasks
	types = append(types, tenants.Aggregate()) // extra:tenants
	return types
}

// ReadModel returns the projection of the rows.
func ReadModel() run.ReadModel {
	model := run.ReadModel{Name: chatrows.Projection, Tables: chatrows.Tables(), Handlers: chatrows.Handlers()}
	model.Others = append(model.Others, chat.LeaveOnClose)     // extra:chat
	model.Tables = append(model.Tables, tasks.Rows.Name)       // extra:tasks {
	model.Handlers = append(model.Handlers, tasks.Handler())   // extra:tasks }
	model.Tables = append(model.Tables, tenants.Rows.Name)     // extra:tenants {
	model.Handlers = append(model.Handlers, tenants.Handler()) // extra:tenants }
	model.Others = append(model.Others, publishing.Projection) // extra:publishing
	return model
}

// Schemas returns the schemas of the read model's database.
func Schemas() []migration.Set {
	sets := rdbmigration.ReadModel()
	sets = append(sets, tasks.Schema())   // extra:tasks
	sets = append(sets, tenants.Schema()) // extra:tenants
	return sets
}
