package projections

import (
	"context"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/read-model-updater/processes"
	"example.com/threads/cmd/write-api/commands" // extra:tasks
	"example.com/threads/es"
	"example.com/threads/es/memory" // extra:tasks
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing" // extra:publishing
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
)

type consumer = func(*run.Turn) (run.Consumer, error)

// consumers are what follows the events beside the rows.
func (d Databases) consumers(s Settings, parts system.Parts) []consumer {
	all := []consumer{
		d.taskWorker(s, parts), // extra:tasks
	}
	managers := processes.Ports{Store: d.Store, Log: parts.Log}
	for _, manager := range managers.All() {
		all = append(all, func(turn *run.Turn) (run.Consumer, error) { return turn.Process(manager()) })
	}
	// extra:publishing {
	all = append(all, publishing.Consumer(s.Publishing, publishing.Events{
		Types:  system.Types(),
		Around: d.Keys.Broker, // extra:erasure
	}, parts.Log))
	// extra:publishing }
	return all
}

// taskWorker executes tasks. // extra:tasks {
func (d Databases) taskWorker(s Settings, parts system.Parts) consumer {
	return func(turn *run.Turn) (run.Consumer, error) {
		settings, log := s.Commands, parts.Log
		if settings.CacheBytes == 0 {
			settings.CacheBytes = memory.Limit() / 40 // it handles fewer commands than the write-api
		}
		handling := commands.New(
			d.Store.Gateway,
			d.Keys, // extra:erasure
			settings, es.Settings{CheckClock: d.Store.CheckClock, Logger: log},
		)
		return tasks.Consume(turn, tasks.Ports{
			Unfinished: tasks.Unfinished(d.ReadModel),
			Store:      handling.Tasks,
			Commands:   handling.Operations,
			Timeout:    2 * settings.StoreTimeout,
			Finish:     func(ctx context.Context) { handling.Finish(ctx, log) },
			Log:        log,
			IsActive:   parts.Tenants.Active(tenants.InJournal(d.Store.Gateway, log)), // extra:tenants
		}), nil
	}
} // extra:tasks }
