package readmodeltest

import (
	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/tests/kit/feed"
)

// Task creates a queued import of 10 lines.
func (w *World) Task(creator ident.UserID) task.ID {
	w.t.Helper()
	id := NewID[task.Task]()
	w.WithTask(id, task.Created{Request: task.Request{Creator: creator, Kind: task.Import, Parts: 1, Total: 10}})
	return id
}

// WithTask projects a task's next event.
func (w *World) WithTask(id task.ID, event task.Event) {
	w.t.Helper()
	feed.Happened(w.feed, task.Events(), w.Tenant, id.String(), event)
}
