package updater

import (
	"context"
	"slices"

	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/domain/task"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/tasks"
)

// taskWorker executes tasks while this process has the turn.
type taskWorker struct {
	*tasks.Worker
	commands *writeapi.Commands
}

func (f *journalFollower) newTaskWorker(databases Databases) taskWorker {
	settings, gateway, log := f.settings.Commands, databases.Store.Gateway, f.ports.Log
	if settings.CacheBytes == 0 {
		settings.CacheBytes = memory.Limit() / 40 // it handles fewer commands than the write-api
	}
	commands := writeapi.NewCommands(gateway, databases.Keys, settings, es.Settings{CheckClock: databases.Store.CheckClock, Logger: log})
	const source = "tasks"
	return taskWorker{commands: commands, Worker: tasks.NewWorker(tasks.Ports{
		Unfinished: func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error) {
			return chatrows.UnfinishedTasks(ctx, databases.ReadModel, kinds, without, limit)
		},
		IsActive: f.ports.Access.Tenants(writeapi.Registry(databases.Store, log)).IsActive,
		Handler:  commands.Tasks.Handler,
		Reader:   commands.Tasks.Reader,
		Files:    chatstore.TaskFiles{Spool: gateway},
		Keys:     databases.Keys,
		AuthorOf: rest.AuthorOf,
		Commands: rest.NewLines(commands.Aggregates(), source, 2*settings.StoreTimeout, log),
		Threads:  commands.Tasks.Threads,
		Journal:  chatstore.Journal{Journal: gateway},
		Log:      log,
		Source:   source,
	})}
}

// run executes tasks until ctx ends, then finishes the current commands.
func (w taskWorker) run(ctx context.Context) {
	w.Run(ctx)
	w.commands.Finish(ctx)
}

// notified wakes the worker when tasks have changed, and passes all changes on to next.
func (w taskWorker) notified(next func([]projection.Head)) func([]projection.Head) {
	return func(changed []projection.Head) {
		if slices.ContainsFunc(changed, func(head projection.Head) bool { return head.Key.Type == task.AggregateType }) {
			w.Wake()
		}
		if next != nil {
			next(changed)
		}
	}
}
