// Package commands is the write side: the services of all aggregate types ([New]), and the API over them ([Listen]).
package commands

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/danielgtaylor/huma/v2" // extra:access|tasks

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/docs"
	"example.com/threads/es"
	"example.com/threads/es/memlimit"
	"example.com/threads/extras/erasure"    // extra:erasure
	"example.com/threads/extras/tasks"      // extra:tasks
	"example.com/threads/extras/tasks/task" // extra:tasks
	"example.com/threads/extras/tenants"    // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// Settings are read from the environment.
type Settings struct {
	CacheBytes   uint64 // 0: a share of the memory
	StoreTimeout time.Duration
	CodeReset    string // see [es.Sequence] // extra:chat
}

// ReadAddress reads where the API listens.
func ReadAddress(r *config.Reader) string {
	return r.Address("WRITE_API_ADDR", ":28080", "address to listen on")
}

// ReadSettings reads how commands are handled.
func ReadSettings(r *config.Reader) Settings {
	return Settings{
		// extra:chat {
		CodeReset: r.OneOf("THREAD_CODE_RESET",
			"when the codes of threads begin with 1 again, in UTC; they then name the period, as in THREAD-2026-000001", "never", "year", "month", "day"),
		// extra:chat }
		CacheBytes: uint64(r.Int("STATE_CACHE_BYTES", 0, 0, 1<<40,
			"memory for cached states of aggregates, in bytes; 0: two thirds of the memory that Go may use, and at most 1 GiB; for tasks, a fortieth")),
		StoreTimeout: r.Duration("STORE_TIMEOUT", 5*time.Second, 100*time.Millisecond, 12*time.Second,
			"how long the store may take for a command, retries included; a request is answered within twice that"),
	}
}

// Commands handles the commands of all aggregate types in an event store. [Commands.Finish] ends it.
type Commands struct {
	Services   []Service
	Operations []rest.Aggregate
	Tasks      tasks.Store // extra:tasks
}

// Service is an [es.Service] of any aggregate type.
type Service interface {
	Type() string
	Close(context.Context) error
}

const closeTimeout = 2 * time.Second // limits how long snapshots are written after the last command

// Finish completes the accepted commands. Snapshots that take too long are given up: the next load is slower.
func (c *Commands) Finish(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	for _, service := range c.Services {
		if err := service.Close(ctx); err != nil {
			log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
		}
	}
}

// New returns the commands over gateway. base has what settings lack.
func New(
	gateway es.Store,
	keys *erasure.Keyring, // extra:erasure
	settings Settings, base es.Settings,
) *Commands {
	cache := cmp.Or(settings.CacheBytes, min(memlimit.Limit()/3*2, 1<<30))
	base.Timeout = settings.StoreTimeout
	ofOthers := base
	ofOthers.CacheBytes = max(1, cache/32)
	// The states of threads are large and many; up to four other types share an eighth. // extra:chat {
	ofThreads := base
	ofThreads.CacheBytes = max(1, cache/8*7)
	threads := es.NewService(eventjson.Threads(), gateway, ofThreads)
	accounts := es.NewService(eventjson.Accounts(), gateway, ofOthers)

	services := chat.Services{Threads: threads, Accounts: accounts}
	services = keys.Commands(services, threads.Reload) // extra:erasure
	codes := es.Sequence{Store: gateway, Kind: chat.CodeKind, Reset: settings.CodeReset}
	// extra:chat }
	c := &Commands{
		Services: []Service{
			threads,  // extra:chat
			accounts, // extra:chat
		},
		Operations: []rest.Aggregate{
			rest.Threads(chat.WithCodes(services.Threads, codes)), // extra:chat
			rest.Accounts(services.Accounts),                      // extra:chat
		},
	}
	c.Operations = erasure.Operations(c.Operations, services.Accounts) // extra:erasure
	registry := es.NewService(tenants.Aggregate(), gateway, ofOthers)  // extra:tenants {
	c.Services = append(c.Services, registry)
	c.Operations = append(c.Operations, tenants.Operations(registry)) // extra:tenants }
	taskService := es.NewService(task.Aggregate(), gateway, ofOthers) // extra:tasks {
	c.Tasks = tasks.Store{Events: gateway, Keys: keys, Handle: taskService.Handle, Thread: threads.Reload}
	c.Services = append(c.Services, taskService)
	c.Operations = append(c.Operations, tasks.Operations(c.Tasks, base.Logger)) // extra:tasks }
	return c
}

// Server is the write-api. It holds its listening address.
type Server struct {
	*httpserver.Server
	Run func(context.Context) error // takes commands until ctx ends, then finishes the accepted ones
}

// Listen takes the address, for commands that are stored in store.
func Listen(ctx context.Context, addr string, settings Settings, store *eventstore.Store, parts system.Parts) (*Server, error) {
	server, err := parts.Listen(ctx, "WRITE_API_ADDR", addr)
	if err != nil {
		return nil, err
	}
	active := tenants.InJournal(store.Gateway, parts.Log)                              // extra:tenants {
	server.Around = append(server.Around, parts.Tenants.Middleware(active, parts.Log)) // extra:tenants }
	server.Reports = append(server.Reports, func(ctx context.Context, health *httpserver.Health) {
		health.Check("store", store.Check(ctx))
		health.Check("clock", store.Clock.Check(ctx))
	})
	measured := es.NewMetrics()
	parts.Registry.MustRegister(append(store.Metrics, measured)...)
	commands := New(
		store.Gateway,
		parts.Keys, // extra:erasure
		settings, es.Settings{SnapshotEvery: store.SnapshotEvery, CheckClock: store.Clock.Check, Logger: parts.Log, Metrics: measured},
	)
	api := rest.NewHandler(commands.Operations, rest.Settings{
		Source:  "write-api",
		Log:     parts.Log,
		Timeout: 2 * settings.StoreTimeout, // a command may wait for another one as long
		Describe: []func(*huma.OpenAPI){ // extra:access|tasks {
			func(doc *huma.OpenAPI) { parts.Access.Describe(doc, rest.DescribeProblem) }, // extra:access
			tasks.Describe(commands.Operations),                                          // extra:tasks
		}, // extra:access|tasks }
		Revise: commands.Tasks.Accept, // extra:tasks
	})
	docs.AddTo(api)
	return &Server{server, func(ctx context.Context) error {
		defer commands.Finish(ctx, parts.Log)
		return server.Serve(ctx, server.Handler(api, parts.Registry, "/docs tells what there is"))
	}}, nil
}
