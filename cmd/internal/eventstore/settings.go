package eventstore

import (
	"fmt"
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/database"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
)

// The kinds of event stores. The relational ones are called as their drivers.
const (
	DynamoDB = "dynamodb"
	MySQL    = database.MySQL // MariaDB, too
	SQLite   = database.SQLite
)

// What EVENT_STORE_URL looks like.
const (
	mysqlURL  = "user:password@tcp(host:3306)/threads"
	sqliteURL = "sqlite:data/events.db"
)

// SnapshotUsage tells the variable of [ReadSnapshotKeep] for --help.
const SnapshotUsage = `  SNAPSHOT_KEEP              snapshots to keep beside the latest (1)
`

// ReadSnapshotKeep reads what every event store can be told about snapshots.
func ReadSnapshotKeep(reader *config.Reader) int { return reader.Int("SNAPSHOT_KEEP", 1, 0, 1000) }

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  EVENT_STORE                dynamodb, mysql or sqlite (dynamodb)
  EVENT_STORE_URL            with mysql: ` + mysqlURL + `; with sqlite: ` + sqliteURL + ` (none: it has to be set, with those two)
  JOURNAL_TABLE              with dynamodb: table of events (journal)
  SNAPSHOT_TABLE             with dynamodb: table of heads, snapshots and receipts (snapshot)
  SHARD_COUNT                with dynamodb: logical shards; must never change once there is data (64)
` + SnapshotUsage + `  SNAPSHOT_TTL               with dynamodb: how long those beyond that live on, such as 72h (0s: they are deleted at once)
  AWS_REGION                 with dynamodb: region of the tables (none: it has to be set, or be in the AWS SDK's files)
  AWS_ENDPOINT_URL_DYNAMODB  with dynamodb: where it is, when not on AWS, such as http://127.0.0.1:8000 (AWS)
  and the AWS SDK's own variables for credentials
`

// Settings are what the environment says of the event store.
type Settings struct {
	Kind         string // DynamoDB, MySQL or SQLite
	SnapshotKeep int    // beside the latest

	URL string // of MySQL and SQLite

	// Of DynamoDB.
	JournalTable  string
	SnapshotTable string
	Shards        int
	SnapshotTTL   time.Duration
}

// ReadSettings reads which event store it is and where.
func ReadSettings(reader *config.Reader) Settings {
	s := Settings{
		Kind:          reader.OneOf("EVENT_STORE", DynamoDB, DynamoDB, MySQL, SQLite),
		SnapshotKeep:  ReadSnapshotKeep(reader),
		JournalTable:  reader.String("JOURNAL_TABLE", "journal"),
		SnapshotTable: reader.String("SNAPSHOT_TABLE", "snapshot"),
		Shards:        reader.Int("SHARD_COUNT", dynamodb.DefaultShards, 1, 1<<16),
		SnapshotTTL:   reader.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour),
	}
	reader.URL("AWS_ENDPOINT_URL_DYNAMODB", "") // the SDK reads it itself; here it is checked
	if s.JournalTable == s.SnapshotTable {
		reader.Wrong(fmt.Sprintf("JOURNAL_TABLE and SNAPSHOT_TABLE are both %q; they must be two tables", s.JournalTable))
	}
	switch s.Kind {
	case MySQL:
		s.URL = readURL(reader, mysqlURL, MySQL)
	case SQLite:
		s.URL = readURL(reader, sqliteURL, SQLite)
	}
	return s
}

// readURL reads the URL of a database of the kind. What can never be opened is told now; whether the database is there is
// found out later.
func readURL(reader *config.Reader, expected, kind string) string {
	return reader.Secret("EVENT_STORE_URL", expected, func(url string) error {
		driver, err := database.DriverOf(url)
		if err == nil && driver != kind {
			err = fmt.Errorf("it is of %s", driver)
		}
		return err
	})
}
