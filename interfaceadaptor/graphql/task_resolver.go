package graphql

import (
	"context"

	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/usecase/query"
)

// GetTask resolves Query.getTask.
func (r queryResolver) GetTask(ctx context.Context, taskID, userAccountID string) (model.Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return model.Task{}, err
	}
	found, err := r.tasks.Task(ctx, viewer, id)
	return model.NewTask(found), err
}

// Tasks resolves Query.tasks.
func (r queryResolver) Tasks(ctx context.Context, userAccountID string, first *int, after *string) (model.TaskConnection, error) {
	viewer, err := viewerOf(ctx, userAccountID)
	if err != nil {
		return model.TaskConnection{}, err
	}
	asked, err := forward(model.TaskList, first, after)
	if err != nil {
		return model.TaskConnection{}, err
	}
	page, err := r.tasks.Tasks(ctx, viewer, asked)
	return model.NewConnection(model.TaskList, page, model.NewTask), err
}

// TaskChanged resolves Subscription.taskChanged.
func (r subscriptionResolver) TaskChanged(ctx context.Context, taskID, userAccountID string) (<-chan model.Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return nil, err
	}
	return stream(ctx, r, r.tasks.Changes(ctx, r.queries, viewer, id), model.NewTask), nil
}

func viewerAndTask(ctx context.Context, userAccountID, taskID string) (query.Viewer, task.ID, error) {
	viewer, err := viewerOf(ctx, userAccountID)
	if err != nil {
		return viewer, task.ID{}, err
	}
	id, err := parseID[task.Task]("taskId", taskID)
	return viewer, id, err
}
