package model

import (
	"time"

	"example.com/threads/extras/tasks"
)

// Task is the schema's Task.
type Task struct {
	ID        string
	TaskID    string
	Kind      string
	Status    string
	Done      int
	Total     int
	Rejected  int
	Message   string
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	CreatedBy string
}

// NewTask converts a task.
func NewTask(t tasks.Row) Task {
	return Task{
		ID: t.ID.String(), TaskID: t.ID.String(), Kind: string(t.Kind), Status: string(t.Status), Done: int(t.Done), Total: int(t.Total),
		Rejected: int(t.Rejected), Message: t.Message, Version: int(t.Version), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, CreatedBy: t.CreatedBy.String(),
	}
}
