package eventstore

import (
	"fmt"
	"time"

	"example.com/threads/es/database"
	"example.com/threads/infrastructure/config"
)

// The kinds of event stores. The relational ones have the names of their drivers.
const (
	DynamoDB = "dynamodb"
	MySQL    = database.MySQL // also for MariaDB
	SQLite   = database.SQLite
)

// Settings of the event store.
type Settings struct {
	Kind          string
	URL           string // of a relational store
	JournalTable  string // of DynamoDB, like the next two
	SnapshotTable string
	Shards        int

	SnapshotKeep int           // beside the latest
	SnapshotTTL  time.Duration // DynamoDB

	Clock          func() time.Time // this computer's clock; nil: time.Now
	ClockTolerance time.Duration    // maximum difference from the clock of the store
}

// ReadSettings reads the kind and the place of the event store. Programs that only read need nothing else.
func ReadSettings(r *config.Reader) (s Settings) {
	s.Kind, s.URL = ReadURL(r)
	s.JournalTable, s.SnapshotTable = ReadTables(r)
	s.Shards = r.Int("SHARD_COUNT", 64, 1, 1<<16, "with dynamodb: number of logical shards; must never change once there is data")
	return s
}

// ReadClock reads how far the clocks may differ, for programs that handle commands.
func (s *Settings) ReadClock(r *config.Reader) {
	s.ClockTolerance = r.Duration("CLOCK_TOLERANCE", 5*time.Minute, 10*time.Second, 365*24*time.Hour,
		"with dynamodb or mysql: commands are refused while this computer's clock differs from the store's by more")
}

// ReadSnapshots reads which snapshots are kept, for programs that write them.
func (s *Settings) ReadSnapshots(r *config.Reader) {
	s.SnapshotKeep = ReadSnapshotKeep(r)
	s.SnapshotTTL = r.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour,
		"with dynamodb: how long older snapshots are kept, such as 72h; with 0s they are deleted at once")
}

// ReadSnapshotKeep reads how many snapshots any event store keeps.
func ReadSnapshotKeep(r *config.Reader) int {
	return r.Int("SNAPSHOT_KEEP", 1, 0, 1000, "snapshots to keep beside the latest")
}

// ReadDatabaseURL reads the URL of the read model's database. A malformed URL is a problem; the database itself is not
// contacted.
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

// ReadTables reads the names of the DynamoDB tables. It also declares and checks the variables that the AWS SDK reads
// by itself.
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

// ReadPolls reads them.
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
