// Command read-model-updater follows the event store and projects its events into the read model. Its HTTP server
// starts at once; the projection waits for its databases and logs that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/read-model-updater/projections"
	"example.com/threads/cmd/write-api/commands" // extra:tasks
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	esrun "example.com/threads/es/run"
	"example.com/threads/extras/archive"            // extra:archive
	"example.com/threads/extras/erasure"            // extra:erasure
	"example.com/threads/extras/erasure/awskeys"    // extra:erasure
	"example.com/threads/extras/observe/awscalls"   // extra:observe
	"example.com/threads/extras/publishing"         // extra:publishing
	"example.com/threads/extras/publishing/kafka"   // extra:publishing
	"example.com/threads/extras/publishing/nats"    // extra:publishing
	"example.com/threads/extras/publishing/webhook" // extra:publishing
	"example.com/threads/extras/tenants"            // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/program"
)

const about = `
Follows the event store (the stream of the journal table, or the events table as a queue) and projects its events into
the read model. While a database can't be reached, it waits and logs that. If several updaters use one read model, one
works and the others stand by: another one takes over at once when the active one stops or dies, and within five seconds
when it hangs.
SIGINT and SIGTERM end it once the current batches are stored. After a kill it continues where it stopped.

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
`

var run = program.With("read-model-updater", about, readSettings, serve)

func main() { program.Main("read-model-updater", run) }

type settings struct {
	projections projections.Settings
	databaseURL string
	tenants     tenants.Databases // extra:tenants
	store       eventstore.Settings
	archive     archive.Folder   // extra:archive
	erasure     erasure.Settings // extra:erasure
	system      system.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.projections = projections.ReadSettings(r, "manual", "auto")
	s.projections.Polls = eventstore.ReadPolls(r)
	s.projections.Publishing = publishing.ReadSettings(r, nats.Kind, kafka.Kind, webhook.Kind) // extra:publishing
	s.databaseURL = eventstore.ReadDatabaseURL(r)
	s.tenants = tenants.ReadDatabases(r) // extra:tenants
	s.store = eventstore.ReadSettings(r)
	s.store.ReadSnapshots(r.Group("Snapshots (of aggregates that process managers or tasks change)"))
	s.store.ReadClock(r)
	s.projections.Commands = commands.ReadSettings(r.Group("Long work (extras/tasks)")) // extra:tasks
	s.archive = archive.ReadFolder(r)                                                   // extra:archive
	s.erasure = erasure.ReadSettings(r, "")                                             // extra:erasure
	s.system = system.ReadSettings(r, "info", "json")
	s.system.Observe.ReadMetrics(r) // extra:observe
	return s
}

// serve works until ctx ends. The log goes to stdout; its line with the message "listening" contains the address.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	parts := system.New(s.system, stdout)
	if err := parts.Open(ctx, "read-model-updater", s.system); err != nil { // extra:access|observe {
		return err
	}
	defer parts.Close() // extra:access|observe }
	if err := dynamo.Check(ctx, s.store); err != nil {
		return err
	}
	var options []func(*dynamodb.Options)
	options = append(options, awscalls.Observe(parts.Registry)) // extra:observe
	open := func(ctx context.Context) (projections.Databases, error) { return s.open(ctx, parts, options) }
	s.projections.Tenants = s.tenants.In(s.databaseURL) // extra:tenants
	server, err := projections.Listen(ctx, s.projections, open, esrun.Options{}, parts)
	if err != nil {
		return err
	}
	return program.Serve(
		ctx, parts.Log, server.URL(), server.Run,
		parts.Run, // extra:access|observe
	)
}

const (
	silence    = 3 * time.Second // until a database server gives up a silent updater, for another one to take over
	spareConns = 16              // to the read model, for repairs, retries, rebuilds and health, beside the shards'
)

func (s settings) open(ctx context.Context, parts system.Parts, options []func(*dynamodb.Options)) (d projections.Databases, err error) {
	if d.ReadModel, err = database.Open(ctx, s.databaseURL, database.Settings{
		MaxConns: s.projections.Polls.Concurrency + spareConns, Rebuildable: true, Silence: silence, Tracer: parts.Tracer, Logger: parts.Log,
	}); err != nil {
		return d, fmt.Errorf("DATABASE_URL: %w", err)
	}
	d.Close = func() {
		var err error
		if d.Store != nil {
			err = d.Store.Close(context.WithoutCancel(ctx))
		}
		if err = errors.Join(err, d.ReadModel.Close()); err != nil {
			parts.Log.WarnContext(ctx, "the databases could not be closed cleanly", "error", err)
		}
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if err := migration.Check(ctx, d.ReadModel, system.Schemas()...); err != nil {
		return d, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if d.Store, err = dynamo.OpenAny(ctx, s.store, parts.Log, parts.Tracer, options...); err != nil {
		return d, err
	}
	s.archive.Behind(d.Store)                           // extra:archive
	d.Keys, err = awskeys.Open(ctx, s.erasure, d.Store) // extra:erasure
	return d, err
}
