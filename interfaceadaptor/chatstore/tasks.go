package chatstore

import (
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
)

// TaskRepository loads and saves tasks.
type TaskRepository = es.Repository[task.Task, task.Event]

// NewTaskRepository returns the repository of tasks over gateway.
func NewTaskRepository(gateway es.EventPersistenceGateway, settings es.Settings) *TaskRepository {
	return es.NewRepository(gateway, task.Events(), task.Snapshots{}, task.Task.Apply, settings)
}
