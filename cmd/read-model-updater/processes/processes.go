// Package processes has the application's process managers, for the programs that run them.
package processes

import (
	"log/slog"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/chat"
)

// Ports are what process managers work with.
type Ports struct {
	Store *eventstore.Store
	Log   *slog.Logger
}

// All returns the process managers. Each function makes one anew, which ends with its Finish.
func (p Ports) All() []func() run.Process {
	return []func() run.Process{
		p.leaveOnClose, // extra:chat
	}
}

// leaveOnClose is the process manager of closed accounts. // extra:chat {
func (p Ports) leaveOnClose() run.Process {
	// It caches few thread states, because its commands are few.
	threads := es.NewService(eventjson.Threads(), p.Store.Gateway, es.Settings{CacheBytes: 1 << 20, CheckClock: p.Store.CheckClock, Logger: p.Log})
	manager := run.Process{
		Name: chat.LeaveOnClose, Send: chat.SendWithdrawals(threads), Handlers: chatrows.LeaveOnCloseHandlers,
		Hold: p.Store.CheckClock, Finish: threads.Close,
	}
	for _, each := range system.Types() {
		manager.Ignore = append(manager.Ignore, each.Type())
	}
	return manager
} // extra:chat }
