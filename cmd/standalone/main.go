// Command standalone is the whole system in one process, with events and read model in two SQLite files.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath" // extra:erasure
	"runtime"
	"syscall" // extra:page
	"time"

	"github.com/jmoiron/sqlx" // extra:lab

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/read-api/queries"
	"example.com/threads/cmd/read-model-updater/projections"
	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	esrun "example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/archive"            // extra:archive
	"example.com/threads/extras/erasure"            // extra:erasure
	"example.com/threads/extras/page"               // extra:page
	"example.com/threads/extras/publishing"         // extra:publishing
	"example.com/threads/extras/publishing/webhook" // extra:publishing
	"example.com/threads/extras/tenants"            // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/program"
)

const about = `
The whole system in one process: commands over REST, queries over GraphQL, events and read model in SQLite files.
Acknowledged commands survive a crash of the process and of the machine. If the read model's file is missing, it is
rebuilt from the events. SIGINT (Ctrl-C) and SIGTERM end it when the accepted requests are answered, or after 8 s.
`

var run = program.With("standalone", about, readSettings, serve)

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0)) // a goroutine that waits for a file keeps one of them busy
	}
	program.Main("standalone", run)
}

type settings struct {
	folder      string
	address     string // of the commands
	commands    commands.Settings
	queries     queries.Settings
	projections projections.Settings
	store       eventstore.Settings
	archive     archive.Folder   // extra:archive
	erasure     erasure.Settings // extra:erasure
	page        page.Settings    // extra:page
	lab         failureLab       // extra:lab
	system      system.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.folder = r.String("DATA_DIR", "data", "folder of the files events.db and readmodel.db; only one standalone program may use it at a time")
	s.address = commands.ReadAddress(r)
	s.commands = commands.ReadSettings(r)
	s.store = eventstore.Settings{
		Kind: eventstore.SQLite, URL: s.url(eventsFile), SnapshotEvery: eventstore.ReadSnapshotEvery(r), SnapshotKeep: eventstore.ReadSnapshotKeep(r),
	}
	s.queries = queries.ReadSettings(r)
	s.projections = projections.ReadSettings(r, "auto", "manual")
	s.projections.Polls.Max = time.Second                                       // commits of this program end the wait
	s.projections.Commands = s.commands                                         // extra:tasks
	s.projections.Publishing = publishing.ReadSettings(r, webhook.Kind)         // extra:publishing
	s.archive = archive.ReadFolder(r)                                           // extra:archive
	s.erasure = erasure.ReadSettings(r, filepath.Join(s.folder, "erasure.key")) // extra:erasure
	tenants.RefuseDatabases(r)                                                  // extra:tenants
	s.page = page.ReadSettings(r)                                               // extra:page
	s.lab = readLab(r)                                                          // extra:lab
	s.system = system.ReadSettings(r, "warn", "text")
	s.system.Access.ReadLive(r)         // extra:access
	s.system.Access.BringsIssuer = true // extra:access
	return s
}

// failureLab is the failure lab of a program that was built with the tag lab; see lab.go. // extra:lab {
type failureLab interface {
	Faults() esrun.Faults                              // of the projection
	Gateway(es.Store) es.Store                         // wraps the write-api's event store
	Handler(beside string, rows *sqlx.DB) http.Handler // of the page below /lab, with another write-api
} // extra:lab }

// serve works until ctx ends, then finishes the accepted requests.
func serve(ctx context.Context, s settings, stdout io.Writer) (err error) {
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	parts := system.New(s.system, stdout)
	if err := parts.Open(ctx, "standalone", s.system); err != nil { // extra:access|observe {
		return err
	}
	defer parts.Close() // extra:access|observe }
	rows, err := s.migrated(ctx, readModelFile, database.Settings{Rebuildable: true, Tracer: parts.Tracer, Logger: parts.Log}, system.Schemas()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	schemas := []migration.Set{sqlstore.Schema()}
	schemas = append(schemas, erasure.Schema()) // extra:erasure
	events, err := s.migrated(ctx, eventsFile, database.Settings{Logger: parts.Log}, schemas...)
	if err == nil {
		err = events.Close()
	}
	if err != nil {
		return err
	}

	store, err := eventstore.Open(ctx, s.store, parts.Log, parts.Tracer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	s.archive.Behind(store)                                                    // extra:archive
	if parts.Keys, err = erasure.Open(ctx, s.erasure, store.SQL); err != nil { // extra:erasure {
		return err
	} // extra:erasure }
	var running []func(context.Context) error
	running = append(running, parts.Run) // extra:access|observe
	writable, faults := store, esrun.Faults{}
	var labPage http.Handler // extra:page
	if s.lab != nil {        // extra:lab {
		second, err := commands.Listen(ctx, "127.0.0.1:0", s.commands, store, parts.Anew())
		if err != nil {
			return err
		}
		defer func() { _ = second.Close() }()
		running = append(running, second.Run)
		faulty := *store
		faulty.Gateway = s.lab.Gateway(store.Gateway)
		writable, faults = &faulty, s.lab.Faults()
		labPage = s.lab.Handler(second.URL(), rows) // extra:page
	} // extra:lab }
	write, err := commands.Listen(ctx, s.address, s.commands, writable, parts.Anew())
	if err != nil {
		return err
	}
	defer func() { _ = write.Close() }()
	read, err := queries.Listen(
		ctx, s.queries, rows, parts.Anew(),
		func(context.Context) (*eventstore.Store, error) { return store, nil }, // extra:history
	)
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }()
	open := func(context.Context) (projections.Databases, error) {
		return projections.Databases{
			Store: store, ReadModel: rows, Close: func() {},
			Keys: parts.Keys, // extra:erasure
		}, nil
	}
	// What was committed answers queries that wait for a version.
	updater, err := projections.Listen(ctx, s.projections, open, esrun.Options{Notify: read.Watcher.Wake, Faults: faults}, parts.Anew())
	if err != nil {
		return err
	}
	defer func() { _ = updater.Close() }()
	web, err := page.Listen(ctx, s.page, parts.Access, labPage, parts.Log) // extra:page {
	if errors.Is(err, syscall.EADDRINUSE) && s.page.Address == page.UsualAddress {
		s.page.Address = "localhost:0" // the banner shows it
		web, err = page.Listen(ctx, s.page, parts.Access, labPage, parts.Log)
	}
	if err != nil {
		return err
	}
	defer func() { _ = web.Close() }()
	running = append(running, func(ctx context.Context) error {
		return web.Run(ctx, page.Programs{Write: write.URL(), Read: read.URL(), Updater: updater.URL()})
	}) // extra:page }

	err = banner.Execute(stdout, map[string]any{
		"Folder": s.folder, "Write": write.URL(), "Read": read.URL(), "Updater": updater.URL(), "Warning": write.Notes["warning"],
		"Web":    web.URL(),                                                // extra:page
		"Issuer": parts.Access.DevIssuer, "Tokens": !parts.Access.IsOpen(), // extra:access
	})
	if err != nil {
		return err
	}
	running = append(running, write.Run, read.Run, updater.Run, func(ctx context.Context) error { return tellProgress(ctx, updater, stdout) })
	return program.Serve(ctx, parts.Log, write.URL(), running...)
}
