package projections

import (
	"context"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands" // extra:tasks
	"example.com/threads/es"
	"example.com/threads/es/memory" // extra:tasks
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing" // extra:publishing
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/chat"
)

type consumer = func(*run.Turn) (run.Consumer, error)

// consumers are what follows the events beside the rows.
func (d Databases) consumers(s Settings, parts system.Parts) []consumer {
	all := []consumer{
		d.taskWorker(s, parts), // extra:tasks
		d.leaveOnClose(parts),  // extra:chat
	}
	// extra:publishing {
	all = append(all, publishing.Consumer(s.Publishing, publishing.Events{
		Types:  system.Types(),
		Around: func(broker publishing.Broker) publishing.Broker { return d.Keys.Broker(broker) }, // extra:erasure
	}, parts.Log))
	// extra:publishing }
	return all
}

// leaveOnClose is the process manager of closed accounts. // extra:chat {
func (d Databases) leaveOnClose(parts system.Parts) consumer {
	return func(turn *run.Turn) (run.Consumer, error) {
		// It caches few thread states, because its commands are few.
		threads := es.NewService(eventjson.Threads(), d.Store.Gateway, es.Settings{CacheBytes: 1 << 20, CheckClock: d.Store.CheckClock, Logger: parts.Log})
		manager := run.Process{
			Name:     chat.LeaveOnClose,
			Send:     chat.SendWithdrawals(threads),
			Handlers: func(commands *process.Outbox) []projection.Handler { return chatrows.LeaveOnCloseHandlers(commands) },
			Hold:     d.Store.CheckClock,
			Finish:   threads.Close,
		}
		for _, each := range system.Types() {
			manager.Ignore = append(manager.Ignore, each.Type())
		}
		return turn.Process(manager)
	}
} // extra:chat }

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
			Store:      handling.Tasks.Store,
			Prepare:    tasks.Lines(handling.Operations, 2*settings.StoreTimeout, log),
			Finish:     func(ctx context.Context) { handling.Finish(ctx, log) },
			Log:        log,
			IsActive:   parts.Tenants.Active(tenants.InJournal(d.Store.Gateway, log)), // extra:tenants
		}), nil
	}
} // extra:tasks }
