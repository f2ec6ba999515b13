package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/access"
	"example.com/threads/cmd/internal/erasure"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/database"
	"example.com/threads/infrastructure/tracing"
	rdbmigration "example.com/threads/rdb-migration"
)

const about = `
Follows the event store - the stream of the journal table, or the table of events as a queue - and brings its events into
the read model. It does the tasks that clients have asked for. It waits for what is not there yet, and says so in its log. Of several on one server one works, and the others stand by:
one of them goes on at once when it ends, and within five seconds when it dies or stands still.
SIGINT and SIGTERM end it once the batches in hand are stored; killed at any point, it goes on where it was.

GET /health/alive   200 while the program runs
GET /health/ready   200 while it keeps up its work; 503 while database or event store can't be reached or it stands still,
                    until the read model has caught up once since its tables were made, and while there are events of an
                    aggregate type that it does not know; reason says which. behind_seconds and behind_records say how far
                    the read model is behind the journal, behind_at_least that it may be more, parked_aggregates how many
                    wait for an event that can't be projected, repair_due that the rows are being compared with the
                    journal, active whether it works or stands by, rebuild how far a rebuild is. It is unready, too,
                    while rows were made by another version of the program or are ahead of the journal: see REBUILD
GET /metrics        the same and more, for Prometheus
/operate/...        what operators do from the page: parked aggregates, verification and rebuild of the rows. With AUTH it
                    needs the scope threads:operate
`

func main() { program.Main("read-model-updater", run) }

// settings are what the environment says.
type settings struct {
	updater     updater.Settings
	store       eventstore.Settings
	erasure     erasure.Settings
	databaseURL string
	access      access.Settings
	logging     program.Logging
	tracing     tracing.Settings
}

// readSettings reads them.
func readSettings(r *config.Reader) (s settings) {
	s.updater = updater.ReadSettings(r)
	s.updater.Measurements = measurements.ReadSettings(r)
	s.updater.Commands = writeapi.ReadCommands(r)
	s.updater.Source.Streams = eventstore.ReadStreams(r)
	s.updater.RebuildAuto = updater.ReadRebuild(r, updater.RebuildManual, updater.RebuildAuto)
	s.databaseURL = stores.ReadDatabaseURL(r)
	s.store = eventstore.ReadSettings(r)
	s.erasure = erasure.ReadSettings(r, "")
	s.access = access.ReadSettings(r)
	s.logging = program.ReadLogging(r)
	s.tracing = tracing.ReadSettings(r)
	return s
}

// run is the program: it works until ctx ends. Its log goes to stdout, and the line with the message "listening" tells
// the address.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	s, helped, err := program.Settings("read-model-updater", about, readSettings, args, getenv, stdout)
	if helped || err != nil {
		return err
	}
	log := s.logging.Logger(stdout)
	traces, err := tracing.Start(ctx, s.tracing, "read-model-updater", log)
	if err != nil {
		return err
	}
	defer traces.Stop()
	open := func(ctx context.Context) (updater.Databases, error) { return s.open(ctx, log) }
	letIn, err := access.Open(ctx, s.access, false, log)
	if err != nil {
		return err
	}
	server, err := updater.Listen(ctx, s.updater, updater.Ports{Open: open, Access: letIn, Tracer: traces.Provider(), Log: log})
	if err != nil {
		return errors.Join(err, letIn.Close())
	}
	log.InfoContext(ctx, "listening", "url", server.URL())
	group, serving := errgroup.WithContext(ctx)
	group.Go(func() error { return letIn.Run(serving) })
	group.Go(func() error { return server.Run(serving) })
	err = group.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

// spareConns are connections to the read model beside one for each shard: for repairs, retries, rebuilds and health.
const spareConns = 16

func (s settings) open(ctx context.Context, log *slog.Logger) (updater.Databases, error) {
	db, err := database.Open(ctx, s.databaseURL, database.Settings{
		MaxConns: s.updater.Source.Streams.Concurrency + spareConns, Rebuildable: true, Silence: updater.Silence, Logger: log,
	})
	if err != nil {
		return updater.Databases{}, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if err := rdbmigration.Check(ctx, db, rdbmigration.ReadModel()); err != nil {
		return updater.Databases{}, errors.Join(fmt.Errorf("DATABASE_URL: %w", err), db.Close())
	}
	store, err := eventstore.Open(ctx, s.store, eventstore.Ports{Log: log})
	if err != nil {
		return updater.Databases{}, errors.Join(err, db.Close())
	}
	keys, err := erasure.Open(ctx, s.erasure, store)
	if err != nil {
		return updater.Databases{}, errors.Join(err, store.Close(ctx), db.Close())
	}
	closeBoth := func() {
		if err := errors.Join(store.Close(context.WithoutCancel(ctx)), db.Close()); err != nil {
			log.WarnContext(ctx, "the databases could not be closed in order", "error", err)
		}
	}
	return updater.Databases{Store: store, Keys: keys, ReadModel: db, Close: closeBoth}, nil
}
