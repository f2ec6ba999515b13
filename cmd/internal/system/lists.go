package system

import (
	"log/slog"
	"strings"

	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/run"
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/usecase/chat"
)

// Types returns the aggregate types that the programs know.
func Types() []es.AnyAggregate {
	types := eventjson.Types()
	types = append(types, task.Aggregate())    // extra:tasks
	types = append(types, tenants.Aggregate()) // extra:tenants
	return types
}

// ReadModel returns the projection of the rows.
func ReadModel() run.ReadModel {
	model := run.ReadModel{Name: chatrows.Projection, Tables: chatrows.Tables(), Handlers: chatrows.Handlers()}
	model.Tables = append(model.Tables, tasks.Rows.Name)       // extra:tasks {
	model.Handlers = append(model.Handlers, tasks.Handler())   // extra:tasks }
	model.Tables = append(model.Tables, tenants.Rows.Name)     // extra:tenants {
	model.Handlers = append(model.Handlers, tenants.Handler()) // extra:tenants }
	return model
}

// Schemas returns the schemas of the read model's database.
func Schemas() []migration.Set {
	sets := rdbmigration.ReadModel()
	sets = append(sets, tasks.Schema())   // extra:tasks
	sets = append(sets, tenants.Schema()) // extra:tenants
	return sets
}

// ReadIgnored reads the aggregate types that a program does not know and leaves out. // extra:operate {
func ReadIgnored(r *config.Reader) []string {
	types := r.Group("Operations (extras/operate)").String("IGNORE_AGGREGATE_TYPES", "", "aggregate types, separated by commas, whose events this program does not know and leaves out")
	return strings.FieldsFunc(types, func(r rune) bool { return r == ',' || r == ' ' })
} // extra:operate }

// Processes returns a constructor for each process manager. Call Finish to end one.
func Processes() []func(*eventstore.Store, *slog.Logger) run.Process {
	return []func(*eventstore.Store, *slog.Logger) run.Process{
		leaveOnClose, // extra:chat
	}
}

// leaveOnClose is the process manager of closed accounts. // extra:chat {
func leaveOnClose(store *eventstore.Store, log *slog.Logger) run.Process {
	// It caches few thread states, because its commands are few.
	threads := es.NewService(eventjson.Threads(), store.Gateway, es.Settings{
		SnapshotEvery: store.SnapshotEvery, CacheBytes: 1 << 20, CheckClock: store.Clock.Check, Logger: log,
	})
	accounts := es.NewRepository(eventjson.Accounts(), store.Gateway, es.Settings{CacheBytes: 1 << 20, Logger: log})
	return run.Process{
		Name: chat.LeaveOnClose, Send: chat.SendWithdrawals(threads, accounts), Handlers: chatrows.LeaveOnCloseHandlers,
		Hold: store.Clock.Check, Finish: threads.Close,
	}
} // extra:chat }
