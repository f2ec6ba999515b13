package tasks

import (
	"cmp"
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// cursors is the kind of cursors in lists of tasks.
const cursors graphql.Cursors = "tasks"

// The schema's connection of tasks and its edges.
type (
	TaskConnection = graphql.Connection[Task]
	TaskEdge       = graphql.Edge[Task]
)

// Task is the schema's Task.
type Task struct {
	Row
	ID, TaskID, Kind, Status, CreatedBy string
}

func shownTask(t Row) Task {
	return Task{t, t.ID.String(), t.ID.String(), string(t.Kind), string(t.Status), t.CreatedBy.String()}
}

// TaskResolver resolves the fields of Query and Subscription in tasks.graphqls.
type TaskResolver struct {
	Tables  *queryreader.Reader
	Changes *query.Queries // report changes
}

// GetTask resolves Query.getTask.
func (r TaskResolver) GetTask(ctx context.Context, taskID, userAccountID string) (Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return Task{}, err
	}
	found, err := Find(ctx, r.Tables, viewer, id)
	return shownTask(found), err
}

// Tasks resolves Query.tasks: the viewer's, latest first.
func (r TaskResolver) Tasks(ctx context.Context, userAccountID string, first *int, after *string) (TaskConnection, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	asked, pageErr := graphql.Forward(cursors, first, after)
	if err := cmp.Or(err, pageErr); err != nil {
		return TaskConnection{}, err
	}
	page, err := queryreader.Page(ctx, r.Tables, shown, ofCreator, asked, viewer.Tenant.String(), viewer.User.String())
	return graphql.NewConnection(cursors, page, shownTask), err
}

// TaskChanged resolves Subscription.taskChanged: the current state, and each later one until the task is finished.
func (r TaskResolver) TaskChanged(ctx context.Context, taskID, userAccountID string) (<-chan Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context) (Row, uint64, error) {
		found, err := Find(ctx, r.Tables, viewer, id)
		return found, found.Version, err
	}
	changes := func(yield func(Row, error) bool) {
		for seen, err := range query.Changes(ctx, r.Changes, task.Key(viewer.Tenant, id), read) {
			if !yield(seen, err) || seen.Finished() {
				return
			}
		}
	}
	return graphql.Stream(ctx, changes, shownTask), nil
}

func viewerAndTask(ctx context.Context, userAccountID, taskID string) (query.Viewer, task.ID, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	id, idErr := graphql.ParseID[task.Task]("taskId", taskID)
	return viewer, id, cmp.Or(err, idErr)
}

// shown are the columns that an API shows.
var shown = Rows.Without("created_ip", "updated_ip", "request_id", "source")

var ofCreator = queryreader.List{
	Columns: shown.List("t"), From: `FROM tasks t WHERE t.tenant_code = ? AND t.created_by = ?`, At: "t.created_at", ID: "t.id", Descending: true,
}

// Find returns a task of the viewer's, or [task.ErrTaskNotFound].
func Find(ctx context.Context, tables *queryreader.Reader, viewer query.Viewer, id task.ID) (Row, error) {
	return queryreader.One(ctx, tables, shown, task.ErrTaskNotFound,
		`SELECT `+shown.List("t")+` FROM tasks t WHERE t.tenant_code = ? AND t.id = ? AND t.created_by = ?`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// Versions lets consistency tokens name tasks.
func Versions(tables *queryreader.Reader) query.Awaitable {
	return query.Awaitable{Type: task.AggregateType, Shows: func(ctx context.Context, viewer query.Viewer, id string) error {
		parsed, err := ident.Parse[task.Task](id)
		if err == nil {
			_, err = Find(ctx, tables, viewer, parsed)
		}
		return err
	}}
}
