package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
)

const usage = `Usage: read-model-updater

Follows the stream of the journal table and brings its events into the read model. It waits for the table, its stream and
the database where they are not there yet, and says so in its log. Run one of it: more do no harm and no good. SIGINT and
SIGTERM end it once the batches in hand are stored; killed at any point, it goes on where it was.

GET /health/alive   200 while the program runs
GET /health/ready   200 while it keeps up its work, 503 while database or stream can't be reached or a shard stands still;
                    behind_seconds and behind_records say how far the read model is behind the journal,
                    behind_at_least that it may be more, parked_threads how many threads wait for an event that can't be
                    projected, repair_due that what the stream has forgotten is being taken from the journal
GET /metrics        the same and more, for Prometheus

Environment, with what holds where a variable is not set:
  UPDATER_ADDR               address to listen on, for health and metrics (:28081)
  DATABASE_URL               database of the read model: user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db (none: it has to be set)
  EVENT_STORE                dynamodb (dynamodb)
  JOURNAL_TABLE              table of events (journal)
  SNAPSHOT_TABLE             table of heads, snapshots and receipts (snapshot)
  SHARD_COUNT                logical shards; must be what write-api has (64)
  STREAM_POLL_MIN            wait between two polls of a shard while records come (5ms)
  STREAM_POLL_MAX            longest wait while none come (100ms); AWS charges for each poll of each open shard
  STREAM_PAGE_LIMIT          records that one poll asks for, up to 1000 (1000)
  STREAM_DISCOVERY_INTERVAL  time between two looks for new shards (10s)
  STREAM_CONCURRENCY         shards projected at the same time, each with a connection to the database (16)
  LOG_LEVEL                  debug, info, warn or error (info)
  LOG_FORMAT                 json or text (json)
  AWS_REGION                 region of the tables (none: it has to be set, or be in the AWS SDK's files)
  AWS_ENDPOINT_URL_DYNAMODB  where DynamoDB is, when not on AWS, such as http://127.0.0.1:8000 (AWS)
  AWS_ENDPOINT_URL_DYNAMODB_STREAMS  where DynamoDB Streams is, when not on AWS; with DynamoDB Local the same as before (AWS)
  and the AWS SDK's own variables for credentials

Exit code: 0 after a stop, 1 when something failed, 2 when the usage was wrong.
`

// settings are what the environment says.
type settings struct {
	address     string
	databaseURL string
	gateway     dynamodb.Settings
	stream      dynamodbstreams.Settings
	logLevel    slog.Level
	logFormat   logging.Format
}

const databaseExpected = "user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db"

// readSettings reads all variables, or tells everything that is wrong with them.
func readSettings(getenv func(string) string) (settings, error) {
	reader := config.NewReader(getenv)
	reader.OneOf("EVENT_STORE", "dynamodb", "dynamodb")
	for _, checked := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"} {
		reader.URL(checked, "") // the SDK reads it itself
	}
	s := settings{
		address:     reader.Address("UPDATER_ADDR", ":28081"),
		databaseURL: reader.Secret("DATABASE_URL", databaseExpected, validDatabase),
		gateway: dynamodb.Settings{
			JournalTable:  reader.String("JOURNAL_TABLE", "journal"),
			SnapshotTable: reader.String("SNAPSHOT_TABLE", "snapshot"),
			Shards:        reader.Int("SHARD_COUNT", dynamodb.DefaultShards, 1, 1<<16),
			Clock:         time.Now,
		},
		stream: dynamodbstreams.Settings{
			PollMin:       reader.Duration("STREAM_POLL_MIN", 5*time.Millisecond, time.Millisecond, time.Minute),
			PollMax:       reader.Duration("STREAM_POLL_MAX", 100*time.Millisecond, time.Millisecond, time.Minute),
			PageLimit:     int32(reader.Int("STREAM_PAGE_LIMIT", 1000, 1, 1000)),
			DiscoverEvery: reader.Duration("STREAM_DISCOVERY_INTERVAL", 10*time.Second, time.Second, 5*time.Minute),
			Concurrency:   reader.Int("STREAM_CONCURRENCY", 16, 1, 1024),
		},
	}
	var levelErr, formatErr error
	s.logLevel, levelErr = logging.ParseLevel(reader.String("LOG_LEVEL", "info"))
	s.logFormat, formatErr = logging.ParseFormat(reader.String("LOG_FORMAT", "json"))
	return s, errors.Join(reader.Err(), naming("LOG_LEVEL", levelErr), naming("LOG_FORMAT", formatErr), s.fitting())
}

// fitting checks what holds between settings.
func (s settings) fitting() error {
	var problems []error
	if s.gateway.JournalTable == s.gateway.SnapshotTable {
		problems = append(problems, fmt.Errorf("JOURNAL_TABLE and SNAPSHOT_TABLE are both %q; they must be two tables", s.gateway.JournalTable))
	}
	if s.stream.PollMin > s.stream.PollMax {
		problems = append(problems, fmt.Errorf("STREAM_POLL_MIN is %s and STREAM_POLL_MAX is %s; the longest wait can't be shorter than the shortest", s.stream.PollMin, s.stream.PollMax))
	}
	return errors.Join(problems...)
}

// validDatabase tells what can never be opened from what may be there later.
func validDatabase(url string) error {
	if strings.HasPrefix(url, "sqlite:") || strings.HasPrefix(url, "file:") {
		return nil
	}
	dsn, err := mysql.ParseDSN(url)
	if err == nil && dsn.DBName == "" {
		err = errors.New("no database is named")
	}
	return err
}

func naming(variable string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}
