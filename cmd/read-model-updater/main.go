package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/eventstore/dynamo"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	esrun "example.com/threads/es/run"
	"example.com/threads/extras/access"             // extra:access
	"example.com/threads/extras/erasure"            // extra:erasure
	"example.com/threads/extras/erasure/awskeys"    // extra:erasure
	"example.com/threads/extras/operate/routes"     // extra:operate
	"example.com/threads/extras/publishing"         // extra:publishing
	"example.com/threads/extras/publishing/kafka"   // extra:publishing
	"example.com/threads/extras/publishing/nats"    // extra:publishing
	"example.com/threads/extras/publishing/webhook" // extra:publishing
	"example.com/threads/extras/tenants"            // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/infrastructure/tracing"
)

const about = `
Follows the event store (the stream of the journal table, or the events table as a queue) and projects its events into
the read model. It also executes the tasks that clients have created. While a database can't be reached, it waits and
logs that. If several updaters use one read model, one works and the others stand by: another one takes over at once
when the active one stops or dies, and within five seconds when it hangs.
SIGINT and SIGTERM end it once the current batches are stored. After a kill it continues where it stopped, and publishes
the events of the last second again.

GET /health/alive   200 while the program runs
GET /health/ready   200 while it works or stands by. 503 while the database or the event store can't be reached; while
                    projecting makes no progress; until the read model has caught up once since its tables were created;
                    while there are events of an aggregate type that it does not know (reason names it); while rows were
                    made by another version of the program or are ahead of the journal (see REBUILD).
                    behind_seconds and behind_records: how far the read model is behind the journal; behind_at_least:
                    whether these are lower bounds; parked_aggregates: how many wait for an event that can't be
                    projected; repair_due: whether the rows are being compared with the journal; active: whether it works
                    or stands by; rebuild: the progress of a rebuild
GET /metrics        the same and more, for Prometheus
/operate/...        the operators' actions on the page: parked aggregates, verification and rebuild of the rows. With AUTH
                    it needs the scope threads:operate
`

func main() { program.Main("read-model-updater", run) }

// settings are read from the environment.
type settings struct {
	updater     updater.Settings
	store       eventstore.Settings
	erasure     erasure.Settings    // extra:erasure
	publishing  publishing.Settings // extra:publishing
	databaseURL string
	access      access.Settings // extra:access
	logging     program.Logging
	tracing     tracing.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.updater = updater.ReadSettings(r)
	s.updater.Measurements = metrics.ReadSettings(r)
	s.publishing = publishing.ReadSettings(r, nats.Kind, kafka.Kind, webhook.Kind) // extra:publishing
	s.updater.Commands = writeapi.ReadCommands(r)                                  // extra:tasks
	s.updater.Source.ReadStreams(r)
	s.updater.RebuildAuto = updater.ReadRebuild(r, updater.RebuildManual, updater.RebuildAuto)
	s.databaseURL = stores.ReadDatabaseURL(r)
	s.store = eventstore.ReadSettings(r)
	s.erasure = erasure.ReadSettings(r, "") // extra:erasure
	s.access = access.ReadSettings(r)       // extra:access
	s.logging = program.ReadLogging(r)
	s.tracing = tracing.ReadSettings(r)
	return s
}

// run works until ctx ends. The log goes to stdout; its line with the message "listening" contains the address.
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
	open := func(ctx context.Context) (updater.Databases, error) { return s.open(ctx, traces.Provider(), log) }
	letIn, err := access.Open(ctx, s.access, false, log) // extra:access {
	if err != nil {
		return err
	} // extra:access }
	server, err := updater.Listen(ctx, s.updater, updater.Ports{
		Open: open, Tracer: traces.Provider(), Log: log,
		// extra:access,tasks,tenants {
		IsActive: func(store *eventstore.Store) func(context.Context, es.Tenant) (bool, error) {
			return letIn.Active(tenants.InJournal(store.Gateway, log))
		},
		// extra:access,tasks,tenants }
	})
	if err != nil {
		return err
	}
	letIn.Protect(server.Server)                  // extra:access
	routes.AddTo(server.Mux, server.Updater, log) // extra:operate
	return program.Serve(ctx, log, server.URL(), server.Run,
		letIn.Run, // extra:access
	)
}

// spareConns are connections to the read model for repairs, retries, rebuilds and health, beside one for each shard.
const spareConns = 16

func (s settings) open(ctx context.Context, tracer trace.TracerProvider, log *slog.Logger) (updater.Databases, error) {
	db, err := database.Open(ctx, s.databaseURL, database.Settings{
		MaxConns: s.updater.Source.Concurrency + spareConns, Rebuildable: true, Silence: esrun.Silence, Tracer: tracer, Logger: log,
	})
	if err != nil {
		return updater.Databases{}, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if err := migration.Check(ctx, db, readmodel.Schemas()...); err != nil {
		return updater.Databases{}, errors.Join(fmt.Errorf("DATABASE_URL: %w", err), db.Close())
	}
	store, err := dynamo.Open(ctx, s.store, eventstore.Ports{Log: log, Tracer: tracer})
	if err != nil {
		return updater.Databases{}, errors.Join(err, db.Close())
	}
	keys, err := awskeys.Open(ctx, s.erasure, store) // extra:erasure {
	if err != nil {
		return updater.Databases{}, errors.Join(err, store.Close(ctx), db.Close())
	} // extra:erasure }
	closeBoth := func() {
		if err := errors.Join(store.Close(context.WithoutCancel(ctx)), db.Close()); err != nil {
			log.WarnContext(ctx, "the databases could not be closed cleanly", "error", err)
		}
	}
	found := updater.Databases{Store: store, ReadModel: db, Close: closeBoth}
	found.Keys = keys // extra:tasks
	// extra:erasure {
	found.Wrap = append(found.Wrap, keys.Commands(store.Gateway))
	found.Consumers = append(found.Consumers, keys.Forget(aggregates.Types())...)
	// extra:erasure }
	// extra:publishing {
	found.Consumers = append(found.Consumers, publishing.Consumer(s.publishing, publishing.Events{
		Types:  publishing.All(aggregates.Types()),
		Around: func(broker publishing.Broker) publishing.Broker { return keys.Broker(broker) }, // extra:erasure
	}, log))
	// extra:publishing }
	return found, nil
}
