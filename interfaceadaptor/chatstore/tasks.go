package chatstore

import (
	"example.com/threads/domain/task"
	"example.com/threads/es/command"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/repository"
	"example.com/threads/interfaceadaptor/taskcodec"
)

// TaskRepository loads and saves tasks.
type TaskRepository = repository.Repository[task.Task, task.Event]

var _ command.Repository[task.Task, task.Event] = (*TaskRepository)(nil)

// NewTaskRepository returns the repository of tasks over gateway.
func NewTaskRepository(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *TaskRepository {
	return repository.New(gateway, taskcodec.Events(), taskcodec.Snapshots{}, task.Task.Apply, settings)
}
