// Package eventstore opens the event store that EVENT_STORE selects and its source of changes for the projection. It
// hides the differences between the stores from the programs, which only see a gateway and a source. [Open] knows the
// relational stores, and OpenAny of package dynamo all.
package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/config"
)

// Store is an open event store. [Store.Close] ends it.
type Store struct {
	Gateway es.Store
	// Check returns why the store cannot be used, for /health/ready.
	Check func(context.Context) error
	// Trouble returns the part of Check that costs nothing while all is well: a full disk or damaged data that was met.
	Trouble func(context.Context) error
	// Clock compares this computer's clock with the store's. It is nil with SQLite, which has no other.
	Clock *es.ClockWatch
	// Metrics are those of the store: connections, and the difference of the clocks.
	Metrics []prometheus.Collector
	// SnapshotEvery is for services; see [es.Settings].
	SnapshotEvery uint64
	// Source returns a source of the store's changes, which shares the readers of its stream with the store's others.
	Source func(projection.Sink, projection.Checkpoints, Polls) (run.Source, error)
	// Close completes the accepted writes, until ctx ends.
	Close func(context.Context) error

	SQL      *sqlx.DB // the database of a relational store
	DynamoDB any      // the *dynamodb.Client of a store on DynamoDB, which not every program links
}

// silence is how long a server keeps the locks of a program that is paused or out of reach. Meanwhile no projection can
// go on.
// See docs/adr/0010-order-of-the-relational-queue.md. // extra:whole
const silence = 10 * time.Second

// Open connects to a relational store, and checks its schema. tracer, if not nil, traces its statements.
func Open(ctx context.Context, settings Settings, log *slog.Logger, tracer trace.TracerProvider) (*Store, error) {
	db, err := database.Open(ctx, settings.URL, database.Settings{MustExist: true, Silence: silence, Tracer: tracer, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	if err := migration.Check(ctx, db, sqlstore.Schema()); err != nil {
		return nil, errors.Join(fmt.Errorf("EVENT_STORE_URL: %w", err), db.Close())
	}
	gateway, err := sqlstore.New(ctx, db, sqlstore.Settings{SnapshotKeep: settings.SnapshotKeep})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	store := &Store{
		Gateway: gateway,
		Check: func(ctx context.Context) error {
			return errors.Join(gateway.Check(ctx), migration.Check(ctx, db, sqlstore.Schema()))
		},
		Trouble:       gateway.Check,
		SnapshotEvery: settings.SnapshotEvery,
		Metrics:       []prometheus.Collector{collectors.NewDBStatsCollector(db.DB, "event_store")},
		Source: func(projector projection.Sink, checkpoints projection.Checkpoints, polls Polls) (run.Source, error) {
			return gateway.NewSource(projector, checkpoints, log, sqlstore.SourceSettings{PollMin: polls.Min, PollMax: polls.Max, Gather: polls.Min}), nil
		},
		Close: func(ctx context.Context) error {
			defer func() { _ = db.Close() }()
			return gateway.Close(ctx)
		},
		SQL: db,
	}
	if settings.Kind == MySQL {
		store.Watch(settings.ClockTolerance, func(ctx context.Context) (now time.Time, err error) {
			err = db.GetContext(ctx, &now, "SELECT UTC_TIMESTAMP(6)")
			return now, err
		})
	}
	return store, nil
}

// Watch compares this computer's clock with another, for Clock and a metric.
func (s *Store) Watch(tolerance time.Duration, other func(context.Context) (time.Time, error)) {
	s.Clock = &es.ClockWatch{Clock: time.Now, Other: other, Tolerance: tolerance}
	s.Metrics = append(s.Metrics, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "clock_ahead_seconds",
		Help: "How far this computer's clock was ahead of the event store's when they were last compared; negative: behind.",
	}, func() float64 { return s.Clock.Ahead().Seconds() }))
}

// The kinds of event stores. The relational ones have the names of their drivers.
const (
	DynamoDB = "dynamodb"
	MySQL    = database.MySQL // also for MariaDB
	SQLite   = database.SQLite
)

type Settings struct {
	Kind          string
	URL           string // of a relational store
	JournalTable  string // of DynamoDB, like the next two
	SnapshotTable string
	Shards        []int

	SnapshotEvery uint64        // events
	SnapshotKeep  int           // beside the latest
	SnapshotTTL   time.Duration // DynamoDB

	ClockTolerance time.Duration // maximum difference from the clock of the store
}

// ReadSettings reads the kind and the place of the event store. Programs that only read need nothing else.
func ReadSettings(r *config.Reader) (s Settings) {
	s.Kind, s.URL = ReadURL(r)
	s.JournalTable, s.SnapshotTable = ReadTables(r)
	s.Shards = config.Parsed(r, "SHARD_COUNT", "64",
		"with dynamodb: number of logical shards, 1 to 65536; to raise 64 to 128 once there is data: 64,128 for all programs, and then 128,64", parseShards)
	return s
}

// parseShards reads numbers that are separated by commas.
func parseShards(text string) (shards []int, err error) {
	for number := range strings.SplitSeq(text, ",") {
		count, err := strconv.Atoi(number)
		if err != nil || count < 1 || count > 1<<16 || slices.Contains(shards, count) || len(shards) == 4 {
			return nil, fmt.Errorf("%q is not a whole number from 1 to 65536, nor up to four such as 128,64", text)
		}
		shards = append(shards, count)
	}
	return shards, nil
}

// ReadClock reads how far the clocks may differ, for programs that handle commands.
func (s *Settings) ReadClock(r *config.Reader) {
	s.ClockTolerance = r.Duration("CLOCK_TOLERANCE", 5*time.Minute, 10*time.Second, 365*24*time.Hour,
		"with dynamodb or mysql: commands are refused while this computer's clock differs from the store's by more")
}

// ReadSnapshots reads which snapshots are written and kept, for programs that write them.
func (s *Settings) ReadSnapshots(r *config.Reader) {
	s.SnapshotEvery = ReadSnapshotEvery(r)
	s.SnapshotKeep = ReadSnapshotKeep(r)
	s.SnapshotTTL = r.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour,
		"with dynamodb: how long older snapshots are kept, such as 72h; with 0s they are deleted at once")
}

// ReadSnapshotEvery reads the number of events after which a snapshot is due.
func ReadSnapshotEvery(r *config.Reader) uint64 {
	return uint64(r.Int("SNAPSHOT_EVERY", 100, 1, 1_000_000, "least number of events between two snapshots of an aggregate; a large one gets fewer"))
}

// ReadSnapshotKeep reads how many snapshots any event store keeps.
func ReadSnapshotKeep(r *config.Reader) int {
	return r.Int("SNAPSHOT_KEEP", 1, 0, 1000, "snapshots to keep beside the latest")
}

// ReadDatabaseURL reads the URL of the read model's database, which is not contacted.
func ReadDatabaseURL(r *config.Reader) string {
	const help = "database of the read model: user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db"
	return r.Secret("DATABASE_URL", help, func(url string) error {
		_, err := database.DriverOf(url)
		return err
	})
}

// ReadURL reads the kind of the event store and, for a relational one, the URL of its database.
func ReadURL(r *config.Reader) (kind, url string) {
	kind = r.OneOf("EVENT_STORE", "kind of the event store", DynamoDB, MySQL, SQLite)
	const help = "required with mysql or sqlite: user:password@tcp(host:3306)/threads or sqlite:data/events.db"
	return kind, r.Secret("EVENT_STORE_URL", help, func(url string) error {
		if kind == DynamoDB {
			return nil
		}
		driver, err := database.DriverOf(url)
		if err == nil && driver != kind {
			err = fmt.Errorf("it is a URL for %s", driver)
		}
		return err
	})
}

// ReadTables reads the names of the DynamoDB tables. It also declares the variables that the AWS SDK reads by itself.
func ReadTables(r *config.Reader) (journal, snapshot string) {
	journal = r.String("JOURNAL_TABLE", "journal", "DynamoDB table of events")
	snapshot = r.String("SNAPSHOT_TABLE", "snapshot", "DynamoDB table of heads, snapshots and receipts")
	if journal == snapshot {
		r.Wrong(fmt.Sprintf("JOURNAL_TABLE and SNAPSHOT_TABLE are both %q; they must be different tables", journal))
	}
	r.String("AWS_REGION", "", "region of the tables, unless the AWS SDK's files name it; credentials are in the SDK's own variables")
	r.URL("AWS_ENDPOINT_URL_DYNAMODB", "endpoint of DynamoDB if it is not on AWS, such as http://127.0.0.1:8000")
	return journal, snapshot
}

// Polls are the intervals at which a source asks for changes.
type Polls struct {
	Min, Max time.Duration // between two polls that return events, and between two that return none

	// Of DynamoDB's stream.
	PageLimit   int32         // records per poll
	Discover    time.Duration // between two listings of the shards
	Concurrency int           // shards at the same time
}

func ReadPolls(r *config.Reader) Polls {
	p := Polls{
		Min: r.Duration("STREAM_POLL_MIN", 5*time.Millisecond, time.Millisecond, time.Minute,
			"wait between two polls of a shard or queue while events arrive"),
		Max: r.Duration("STREAM_POLL_MAX", 100*time.Millisecond, time.Millisecond, time.Minute,
			"longest wait without events; AWS charges for each poll of each open shard"),
		PageLimit: int32(r.Int("STREAM_PAGE_LIMIT", 1000, 1, 1000, "with dynamodb: records per poll")),
		Discover: r.Duration("STREAM_DISCOVERY_INTERVAL", 10*time.Second, time.Second, 5*time.Minute,
			"with dynamodb: time between two listings of the shards"),
		Concurrency: r.Int("STREAM_CONCURRENCY", 16, 1, 1024,
			"with dynamodb: shards projected at the same time, each with a connection to the database"),
	}
	if p.Min > p.Max {
		r.Wrong("STREAM_POLL_MIN is longer than STREAM_POLL_MAX; the longest wait can't be shorter than the shortest")
	}
	r.URL("AWS_ENDPOINT_URL_DYNAMODB_STREAMS",
		"endpoint of the streams if they are not on AWS; with DynamoDB Local the same as for the tables")
	return p
}
