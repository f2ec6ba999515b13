package eventstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
)

// The kinds of event stores.
const (
	DynamoDB = "dynamodb"
	MySQL    = "mysql" // MariaDB, too
	SQLite   = "sqlite"
)

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  EVENT_STORE                dynamodb, mysql or sqlite (dynamodb)
  EVENT_STORE_URL            with mysql: user:password@tcp(host:3306)/threads; with sqlite: sqlite:data/events.db (none: it has to be set, with those two)
  JOURNAL_TABLE              with dynamodb: table of events (journal)
  SNAPSHOT_TABLE             with dynamodb: table of heads, snapshots and receipts (snapshot)
  SHARD_COUNT                with dynamodb: logical shards; must never change once there is data (64)
  SNAPSHOT_KEEP              snapshots to keep beside the latest (1)
  SNAPSHOT_TTL               with dynamodb: how long those beyond that live on, such as 72h (0s: they are deleted at once)
  AWS_REGION                 with dynamodb: region of the tables (none: it has to be set, or be in the AWS SDK's files)
  AWS_ENDPOINT_URL_DYNAMODB  with dynamodb: where it is, when not on AWS, such as http://127.0.0.1:8000 (AWS)
  and the AWS SDK's own variables for credentials
`

// Settings are what the environment says of the event store.
type Settings struct {
	Kind         string
	URL          string            // of MySQL and SQLite
	DynamoDB     dynamodb.Settings // but for the number of snapshots to keep
	SnapshotKeep int               // beside the latest
}

// ReadSettings reads which event store it is and where.
func ReadSettings(reader *config.Reader) Settings {
	s := Settings{
		Kind: reader.OneOf("EVENT_STORE", DynamoDB, DynamoDB, MySQL, SQLite),
		DynamoDB: dynamodb.Settings{
			JournalTable:  reader.String("JOURNAL_TABLE", "journal"),
			SnapshotTable: reader.String("SNAPSHOT_TABLE", "snapshot"),
			Shards:        reader.Int("SHARD_COUNT", dynamodb.DefaultShards, 1, 1<<16),
			SnapshotTTL:   reader.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour),
			Clock:         time.Now,
		},
		SnapshotKeep: reader.Int("SNAPSHOT_KEEP", 1, 0, 1000),
	}
	reader.URL("AWS_ENDPOINT_URL_DYNAMODB", "") // the SDK reads it itself; here it is checked
	if s.DynamoDB.JournalTable == s.DynamoDB.SnapshotTable {
		reader.Wrong(fmt.Sprintf("JOURNAL_TABLE and SNAPSHOT_TABLE are both %q; they must be two tables", s.DynamoDB.JournalTable))
	}
	switch s.Kind {
	case MySQL:
		s.URL = reader.Secret("EVENT_STORE_URL", "user:password@tcp(host:3306)/threads", validMySQL)
	case SQLite:
		s.URL = reader.Secret("EVENT_STORE_URL", "sqlite:data/events.db", validSQLite)
	}
	return s
}

func validMySQL(url string) error {
	dsn, err := mysql.ParseDSN(url)
	if err == nil && dsn.DBName == "" {
		err = fmt.Errorf("it names no database")
	}
	return err
}

func validSQLite(url string) error {
	if !strings.HasPrefix(url, "sqlite:") && !strings.HasPrefix(url, "file:") {
		return fmt.Errorf("it names no file")
	}
	return nil
}
