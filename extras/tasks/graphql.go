package tasks

import (
	"context"

	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql"
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
	tasks   Reader
	queries *query.Queries
}

// NewResolver returns the resolver over a reader. queries report changes.
func NewResolver(tasks Reader, queries *query.Queries) TaskResolver {
	return TaskResolver{tasks, queries}
}

// GetTask resolves Query.getTask.
func (r TaskResolver) GetTask(ctx context.Context, taskID, userAccountID string) (Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return Task{}, err
	}
	found, err := r.tasks.Task(ctx, viewer, id)
	return shownTask(found), err
}

// Tasks resolves Query.tasks.
func (r TaskResolver) Tasks(ctx context.Context, userAccountID string, first *int, after *string) (TaskConnection, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	if err != nil {
		return TaskConnection{}, err
	}
	asked, err := graphql.Forward(cursors, first, after)
	if err != nil {
		return TaskConnection{}, err
	}
	page, err := r.tasks.Tasks(ctx, viewer, asked)
	return graphql.NewConnection(cursors, page, shownTask), err
}

// TaskChanged resolves Subscription.taskChanged: the current state, then a state after each change, until the task is
// finished.
func (r TaskResolver) TaskChanged(ctx context.Context, taskID, userAccountID string) (<-chan Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context) (Row, uint64, error) {
		found, err := r.tasks.Task(ctx, viewer, id)
		return found, found.Version, err
	}
	changes := func(yield func(Row, error) bool) {
		for seen, err := range query.Changes(ctx, r.queries, task.Key(viewer.Tenant, id), read) {
			if !yield(seen, err) || seen.Finished() {
				return
			}
		}
	}
	return graphql.Stream(ctx, changes, shownTask), nil
}

func viewerAndTask(ctx context.Context, userAccountID, taskID string) (query.Viewer, task.ID, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	if err != nil {
		return viewer, task.ID{}, err
	}
	id, err := graphql.ParseID[task.Task]("taskId", taskID)
	return viewer, id, err
}
