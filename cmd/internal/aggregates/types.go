// Package aggregates lists the aggregate types of the programs.
package aggregates

import (
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/interfaceadaptor/chatstore"
)

// Types returns the aggregate types that the programs know.
func Types() []es.AnyAggregate {
	types := chatstore.Types()
	types = append(types, task.Aggregate())    // extra:tasks
	types = append(types, tenants.Aggregate()) // extra:tenants
	return types
}
