package updater

import (
	"context"
	"log/slog"
	"slices"

	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/rest"
)

// taskWorker executes tasks while this process has the turn.
type taskWorker struct {
	*tasks.Worker
	commands *writeapi.Commands
	log      *slog.Logger
}

// newTaskWorker returns a worker that the turn wakes when tasks have changed.
func (p program) newTaskWorker(turn *run.Turn) (run.Consumer, error) {
	settings, databases, gateway, log := p.settings.Commands, p.databases, p.databases.Store.Gateway, p.ports.Log
	if settings.CacheBytes == 0 {
		settings.CacheBytes = memory.Limit() / 40 // it handles fewer commands than the write-api
	}
	commands := writeapi.NewCommands(gateway, databases.Keys, settings, es.Settings{CheckClock: databases.Store.CheckClock, Logger: log})
	const source = "tasks"
	worker := taskWorker{commands: commands, log: log, Worker: tasks.NewWorker(tasks.Ports{
		Unfinished: func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error) {
			return chatrows.UnfinishedTasks(ctx, databases.ReadModel, kinds, without, limit)
		},
		IsActive: p.ports.IsActive(databases.Store),
		Store:    commands.Tasks.Store,
		Commands: rest.NewLines(commands.Operations, source, 2*settings.StoreTimeout, log),
		Log:      log,
		Source:   source,
	})}
	turn.OnChange(func(changed []projection.Head) {
		if slices.ContainsFunc(changed, func(head projection.Head) bool { return head.Key.Type == task.AggregateType }) {
			worker.Wake()
		}
	})
	return worker, nil
}

// Run executes tasks until ctx ends, then finishes the current commands.
func (w taskWorker) Run(ctx context.Context) {
	w.Worker.Run(ctx)
	w.commands.Finish(ctx, w.log)
}

// Check implements [run.Consumer]: the rows of tasks tell how they are.
func (taskWorker) Check(context.Context) (found run.Status, err error) { return found, nil }
