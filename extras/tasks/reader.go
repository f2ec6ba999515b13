package tasks

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Reader reads tasks of their creators. It is safe for concurrent use.
type Reader struct{ readModel *queryreader.Reader }

// NewReader returns the reader of tasks in a read model.
func NewReader(readModel *queryreader.Reader) Reader { return Reader{readModel} }

// shown are the columns that an API shows.
var shown = Rows.Without("created_ip", "updated_ip", "request_id", "source")

var ofCreator = queryreader.List{
	Columns: shown.List("t"), From: `FROM tasks t WHERE t.tenant_code = ? AND t.created_by = ?`, At: "t.created_at", ID: "t.id", Descending: true,
}

// Task returns a task of the viewer's, or [task.ErrTaskNotFound].
func (r Reader) Task(ctx context.Context, viewer query.Viewer, id task.ID) (Row, error) {
	return queryreader.One(ctx, r.readModel, shown, task.ErrTaskNotFound,
		`SELECT `+shown.List("t")+` FROM tasks t WHERE t.tenant_code = ? AND t.id = ? AND t.created_by = ?`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// Tasks returns a page of the viewer's tasks, latest first.
func (r Reader) Tasks(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[Row], error) {
	return queryreader.Page(ctx, r.readModel, shown, ofCreator, page, viewer.Tenant.String(), viewer.User.String())
}

// Versions lets consistency tokens name tasks.
func (r Reader) Versions() query.Awaitable {
	return query.Awaitable{Type: task.AggregateType, Shows: func(ctx context.Context, viewer query.Viewer, id string) error {
		parsed, err := ident.Parse[task.Task](id)
		if err == nil {
			_, err = r.Task(ctx, viewer, parsed)
		}
		return err
	}}
}
