package updater

import (
	"context"

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
	threads := chatstore.NewThreadRepository(store.Gateway, es.Settings{CacheBytes: 1 << 20, Logger: p.ports.Log})
	commands := es.NewService(chat.Threads(), threads, es.Settings{CheckClock: store.CheckClock, Logger: p.ports.Log})
	return turn.Process(run.Process{
		Name:     chat.LeaveOnClose,
		Send:     chat.SendForClosed(chat.SendWithdrawals(commands), p.databases.Keys.Destroy),
		Handlers: func(commands *outbox.Outbox) []projection.Handler { return chatrows.LeaveOnCloseHandlers(commands) },
		Ignore:   knownTypes(),
		Hold:     store.CheckClock,
		Finish:   func(ctx context.Context) error { commands.Drain(); return threads.Close(ctx) },
	})
}

// knownTypes are the aggregate types of this application.
func knownTypes() (types []string) {
	for _, handler := range chatrows.Handlers() {
		types = append(types, handler.Type())
	}
	return types
}
