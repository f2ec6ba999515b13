// extra:tasks

package updater

import (
	"context"

	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/es/run"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
)

// newTaskWorker returns what executes tasks.
func (p program) newTaskWorker(turn *run.Turn) (run.Consumer, error) {
	settings, databases, log := p.settings.Commands, p.databases, p.ports.Log
	if settings.CacheBytes == 0 {
		settings.CacheBytes = memory.Limit() / 40 // it handles fewer commands than the write-api
	}
	commands := writeapi.NewCommands(databases.Store.Gateway, databases.Wrap, databases.Keys, settings, es.Settings{CheckClock: databases.Store.CheckClock, Logger: log})
	const source = "tasks"
	ports := tasks.Ports{
		Unfinished: func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error) {
			return tasks.Unfinished(ctx, databases.ReadModel, kinds, without, limit)
		},
		Store:    commands.Tasks.Store,
		Commands: tasks.NewLines(commands.Operations, source, 2*settings.StoreTimeout, log),
		Log:      log,
		Source:   source,
	}
	if p.ports.IsActive != nil {
		ports.IsActive = p.ports.IsActive(databases.Store)
	}
	return tasks.Consume(turn, ports, func(ctx context.Context) { commands.Finish(ctx, log) }), nil
}
