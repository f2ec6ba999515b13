package writeapi

import (
	"time"

	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/es/sequence"
	"example.com/threads/extras/erasure"    // extra:tasks
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// Commands handles the commands of all aggregate types in an event store. [es.Services.Close] ends it.
type Commands struct {
	es.Services
	Operations []rest.Aggregate
	Tasks      *tasks.Intake // extra:tasks
}

// Wrap wraps the services of commands.
type Wrap = func(chat.Services) chat.Services

// NewCommands returns the commands over gateway, wrapped in order. handle has what settings lack.
func NewCommands(
	gateway es.Store, wraps []Wrap,
	keys *erasure.Keyring, // extra:tasks
	settings CommandSettings, handle es.Settings,
) *Commands {
	cache := settings.CacheBytes
	if cache == 0 {
		cache = min(memory.Limit()/3*2, 1<<30)
	}
	handle.Timeout, handle.SnapshotEvery = settings.StoreTimeout, uint64(settings.SnapshotEvery)
	// The states of threads are large and many; an eighth is left to the other types.
	ofThreads, ofOthers := handle, handle
	ofThreads.CacheBytes, ofOthers.CacheBytes = max(1, cache/8*7), max(1, cache/32)

	threads := es.NewService(chatstore.Threads(), gateway, ofThreads)
	accounts := es.NewService(chatstore.Accounts(), gateway, ofOthers)

	wrapped := chat.Services{Threads: threads, Accounts: accounts}
	for _, wrap := range wraps {
		wrapped = wrap(wrapped)
	}
	codes := sequence.New(gateway, chat.CodeKind, settings.Codes)
	c := &Commands{
		Services: es.Services{
			threads,
			accounts,
		},
		Operations: []rest.Aggregate{
			rest.Threads(chat.WithCodes(wrapped.Threads, codes)),
			rest.Accounts(wrapped.Accounts),
		},
	}
	registry := es.NewService(tenants.Aggregate(), gateway, ofOthers) // extra:tenants {
	c.Services = append(c.Services, registry)
	c.Operations = append(c.Operations, tenants.Operations(registry)) // extra:tenants }
	orders := es.NewService(task.Aggregate(), gateway, ofOthers)      // extra:tasks {
	c.Tasks = &tasks.Intake{Store: tasks.Store{Handler: orders, Events: gateway, Threads: threads.Repository, Keys: keys}, Clock: time.Now}
	c.Services = append(c.Services, orders)
	c.Operations = append(c.Operations, tasks.Operations(c.Tasks, handle.Logger)) // extra:tasks }
	return c
}
