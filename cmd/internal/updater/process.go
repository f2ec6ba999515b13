package updater

import (
	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/es"
	"example.com/threads/es/process/outbox"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/chat"
)

// newLeaveOnClose wires the process manager of closed accounts.
func (p program) newLeaveOnClose(turn *run.Turn) (run.Consumer, error) {
	store := p.databases.Store
	// It caches few thread states, because its commands are few.
	commands := es.NewService(chatstore.Threads(), store.Gateway, es.Settings{CacheBytes: 1 << 20, CheckClock: store.CheckClock, Logger: p.ports.Log})
	return turn.Process(run.Process{
		Name:     chat.LeaveOnClose,
		Send:     chat.SendWithdrawals(commands),
		Handlers: func(commands *outbox.Outbox) []projection.Handler { return chatrows.LeaveOnCloseHandlers(commands) },
		Ignore:   knownTypes(),
		Hold:     store.CheckClock,
		Finish:   commands.Close,
	})
}

// knownTypes are the aggregate types of this application.
func knownTypes() (types []string) {
	for _, each := range aggregates.Types() {
		types = append(types, each.Type())
	}
	return types
}
