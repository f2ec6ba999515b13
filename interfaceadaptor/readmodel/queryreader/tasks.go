package queryreader

import (
	"context"

	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/query"
)

var tasksOfCreator = sortedList{
	columns: tasks.List("t"),
	from:    `FROM tasks t WHERE t.tenant_code = ? AND t.created_by = ?`,
	at:      "t.created_at", id: "t.id", descending: true,
}

// Task implements [query.TaskReader].
func (r *Reader) Task(ctx context.Context, viewer query.Viewer, id task.ID) (query.Task, error) {
	return row(ctx, r, tasks, task.ErrTaskNotFound,
		`SELECT `+tasks.List("t")+` FROM tasks t WHERE t.tenant_code = ? AND t.id = ? AND t.created_by = ?`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// Tasks implements [query.TaskReader].
func (r *Reader) Tasks(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Task], error) {
	var s unionStatement
	tasksOfCreator.add(&s, page, viewer.Tenant.String(), viewer.User.String())
	list := newFound[query.Task](page.Limit)
	err := run(ctx, r, &s, tasks, list.take)
	return list.page(tasksOfCreator, page), err
}
