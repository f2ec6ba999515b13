package readmodeltest

import (
	"example.com/threads/domain/ident"
	"example.com/threads/domain/task"
)

// Task creates a queued import of 10 lines.
func (w *World) Task(creator ident.UserID) task.ID {
	w.t.Helper()
	id := NewID[task.Task]()
	w.tick()
	w.exec(`INSERT INTO tasks (tenant_code, id, kind, status, done, total, rejected, message, created_by, version, created_at, updated_at)
		VALUES (?, ?, 'import', 'queued', 0, 10, 0, '', ?, 1, ?, ?)`, w.Tenant.String(), id.String(), creator.String(), w.micros(), w.micros())
	w.exec(`INSERT INTO projection_positions (projection, tenant_code, aggregate_type, aggregate_id, version, parked) VALUES ('read-model', ?, 'task', ?, 1, 0)`,
		w.Tenant.String(), id.String())
	return id
}

// Progress is an event that gets a task further.
func (w *World) Progress(id task.ID, status task.Status, done int) {
	w.t.Helper()
	w.tick()
	w.exec(`UPDATE tasks SET status = ?, done = ?, version = version + 1, updated_at = ? WHERE tenant_code = ? AND id = ?`,
		string(status), done, w.micros(), w.Tenant.String(), id.String())
	w.exec(`UPDATE projection_positions SET version = version + 1 WHERE aggregate_type = 'task' AND tenant_code = ? AND aggregate_id = ?`,
		w.Tenant.String(), id.String())
}
