package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http" // extra:page
	"os"
	"runtime"

	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readapi"
	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	esrun "example.com/threads/es/run" // extra:lab
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/access"         // extra:access
	"example.com/threads/extras/erasure"        // extra:erasure
	"example.com/threads/extras/operate/routes" // extra:operate
	"example.com/threads/extras/page"           // extra:page
	"example.com/threads/extras/publishing"     // extra:publishing
	"example.com/threads/extras/tenants"        // extra:tenants
	"example.com/threads/infrastructure/tracing"
)

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0)) // a goroutine that waits for a file keeps one of them busy
	}
	program.Main("standalone", run)
}

// run serves until ctx ends, then finishes the accepted requests.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	s, helped, err := program.Settings("standalone", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	if err := s.makeFolder(); err != nil {
		return err
	}
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	log := s.logging.Logger(stdout)
	traces, err := tracing.Start(ctx, s.tracing, "standalone", log)
	if err != nil {
		return err
	}
	defer traces.Stop()
	readModel, err := openReadModel(ctx, s, traces.Provider(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, readModel.Close()) }()

	// The servers wake each other: an append wakes the projection, and its commit wakes queries that wait for a
	// version.
	system := &servers{}
	store, err := openEventStore(ctx, s, eventstore.Ports{
		Log: log, Tracer: traces.Provider(), OnAppend: func() { system.updater.Wake() },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	if system.keys, err = erasure.Open(ctx, s.erasure, store.SQL()); err != nil { // extra:erasure {
		return err
	} // extra:erasure }
	if err := system.listen(ctx, s, store, readModel, traces, log); err != nil {
		return err
	}
	return system.run(ctx, s, stdout)
}

// openReadModel opens the file, creates it if missing, and migrates it to this program's schema.
func openReadModel(ctx context.Context, s settings, tracer trace.TracerProvider, log *slog.Logger) (*sqlx.DB, error) {
	db, err := database.Open(ctx, s.readModel(), database.Settings{Rebuildable: true, Tracer: tracer, Logger: log})
	if err != nil {
		return nil, err
	}
	if _, err := migration.Up(ctx, db, readmodel.Schemas()...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func openEventStore(ctx context.Context, s settings, ports eventstore.Ports) (*eventstore.Store, error) {
	db, err := database.Open(ctx, s.eventStore().URL, database.Settings{Logger: ports.Log})
	if err != nil {
		return nil, err
	}
	sets := []migration.Set{sqlstore.Schema()}
	sets = append(sets, erasure.Schema()) // extra:erasure
	_, err = migration.Up(ctx, db, sets...)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return eventstore.Open(ctx, s.eventStore(), ports)
}

// servers are the four servers of the system.
type servers struct {
	write   *writeapi.Server
	read    *readapi.Server
	updater *updater.Server
	web     *page.Server     // extra:page
	access  *access.Access   // extra:access
	keys    *erasure.Keyring // extra:erasure

	writers []*writeapi.Server // write, and the second one of a failure lab
	// extra:lab {
	lab    esrun.Faults
	second *writeapi.Server
	// extra:lab }
	labPage http.Handler // extra:page
}

// listen takes all addresses, or none.
func (y *servers) listen(
	ctx context.Context, s settings, store *eventstore.Store, readModel *sqlx.DB, traces *tracing.Traces, log *slog.Logger,
) (err error) {
	var taken []io.Closer
	defer func() {
		for _, server := range taken {
			if err != nil {
				err = errors.Join(err, server.Close())
			}
		}
	}()
	if y.access, err = access.Open(ctx, s.access, true, log); err != nil { // extra:access {
		return err
	}
	taken = append(taken, y.access) // extra:access }
	writable := store
	if s.lab != nil { // extra:lab {
		if writable, err = y.addLab(ctx, s.lab, s, store, log); err != nil {
			return err
		}
		taken = append(taken, y.second)
	} // extra:lab }
	if y.write, err = writeapi.Listen(ctx, s.write, writable, log); err != nil {
		return err
	}
	taken, y.writers = append(taken, y.write), append(y.writers, y.write)
	if y.read, err = readapi.Listen(ctx, s.read, readModel, eventstore.Opened(store), log); err != nil {
		return err
	}
	y.read.Schema = y.access.Schema(y.read.Schema) // extra:access
	taken = append(taken, y.read)
	if err = y.listenPage(ctx, s.web, log); err != nil { // extra:page {
		return err
	}
	taken = append(taken, y.web) // extra:page }
	y.write.Tracer, y.read.Tracer = traces.Tracer("http"), traces.Tracer("http")
	y.updater, err = updater.Listen(ctx, s.updater, updater.Ports{
		Open: func(context.Context) (updater.Databases, error) {
			return y.databases(s, store, readModel, log), nil
		},
		Notify: y.read.Changed,
		Tracer: traces.Provider(),
		// extra:access,tasks,tenants {
		IsActive: func(store *eventstore.Store) func(context.Context, es.Tenant) (bool, error) {
			return y.access.Active(tenants.InJournal(store.Gateway, log))
		},
		// extra:access,tasks,tenants }
		Faults: y.lab, // extra:lab
		Log:    log,
	})
	if err != nil {
		return err
	}
	routes.AddTo(y.updater.Mux, y.updater.Updater, log) // extra:operate
	y.protect(store, log)                               // extra:access
	y.seal(store)                                       // extra:erasure
	return nil
}

// protect puts the servers behind access control. // extra:access {
func (y *servers) protect(store *eventstore.Store, log *slog.Logger) {
	registered := y.access.Tenants(tenants.InJournal(store.Gateway, log)) // extra:tenants
	for _, write := range y.writers {
		y.access.Protect(write.Server)
		write.Describe = append(write.Describe, y.access.Describe)
		write.Around = append(write.Around, registered) // extra:tenants
	}
	y.access.Protect(y.read.Server)
	y.read.Around = append(y.read.Around, y.access.Tenants(y.read.IsActive)) // extra:tenants
	y.access.Protect(y.updater.Server)
} // extra:access }

// databases returns what the updater works on.
func (y *servers) databases(s settings, store *eventstore.Store, readModel *sqlx.DB, log *slog.Logger) updater.Databases {
	found := updater.Databases{Store: store, ReadModel: readModel, Close: func() {}}
	found.Keys = y.keys // extra:tasks
	// extra:erasure {
	found.Wrap = append(found.Wrap, y.keys.Commands(store.Gateway))
	found.Consumers = append(found.Consumers, y.keys.Forget(aggregates.Types())...)
	// extra:erasure }
	// extra:publishing {
	found.Consumers = append(found.Consumers, publishing.Consumer(s.publishing, publishing.Events{
		Types:  publishing.All(aggregates.Types()),
		Around: func(broker publishing.Broker) publishing.Broker { return y.keys.Broker(broker) }, // extra:erasure
	}, log))
	// extra:publishing }
	return found
}

// seal seals what people write, and opens what they read. // extra:erasure {
func (y *servers) seal(store *eventstore.Store) {
	for _, write := range y.writers {
		write.Wrap = append(write.Wrap, y.keys.Commands(store.Gateway))
		write.Keys = y.keys // extra:tasks
	}
	y.read.Queries, y.read.Journals = y.keys.Reader(y.read.Queries), y.keys.Journals(y.read.Journals)
} // extra:erasure }

// run serves until ctx ends or one of the servers fails.
func (y *servers) run(ctx context.Context, s settings, stdout io.Writer) error {
	if err := y.greet(s, stdout); err != nil {
		return errors.Join(err, y.write.Close(), y.read.Close(), y.updater.Close(),
			y.web.Close(),    // extra:page
			y.access.Close(), // extra:access
		)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return y.access.Run(ctx) }) // extra:access
	group.Go(func() error { return y.write.Run(ctx) })
	group.Go(func() error { return y.read.Run(ctx) })
	if y.second != nil { // extra:lab {
		group.Go(func() error { return y.second.Run(ctx) })
	} // extra:lab }
	group.Go(func() error { return y.updater.Run(ctx) })
	group.Go(func() error { // extra:page {
		return y.web.Run(ctx, page.Programs{Write: y.write.URL(), Read: y.read.URL(), Updater: y.updater.URL()})
	}) // extra:page }
	group.Go(func() error { return y.tellProgress(ctx, stdout) })
	return group.Wait()
}
