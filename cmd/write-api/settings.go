package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/interfaceadaptor/gateway/dynamodb"
	"example.com/threads/interfaceadaptor/rest"
)

const usage = `Usage: write-api

Takes commands on chat threads over HTTP and puts their events into the event store. GET /docs on the running program
tells about the API. SIGINT and SIGTERM end it once the requests that it has accepted are answered.

Environment, with what holds where a variable is not set:
  WRITE_API_ADDR             address to listen on (:28080)
  EVENT_STORE                dynamodb (dynamodb)
  JOURNAL_TABLE              table of events (journal)
  SNAPSHOT_TABLE             table of heads, snapshots and receipts (snapshot)
  SHARD_COUNT                logical shards; must never change once there is data (64)
  SNAPSHOT_EVERY             number of events after which a thread gets another snapshot (100)
  SNAPSHOT_KEEP              snapshots to keep beside the latest (1)
  SNAPSHOT_TTL               how long those beyond that live on, such as 72h (0s: they are deleted at once)
  STORE_TIMEOUT              how long the store may take for a command, retries included; a request is answered within twice that (5s)
  TRUSTED_PROXIES            networks whose X-Forwarded-For tells the client's address, such as 10.0.0.0/8, fd00::/8 (none)
  LOG_LEVEL                  debug, info, warn or error (info)
  LOG_FORMAT                 json or text (json)
  AWS_REGION                 region of the tables (none: it has to be set, or be in the AWS SDK's files)
  AWS_ENDPOINT_URL_DYNAMODB  where DynamoDB is, when not on AWS, such as http://127.0.0.1:8000 (AWS)
  and the AWS SDK's own variables for credentials

Exit code: 0 after a stop, 1 when something failed, 2 when the usage was wrong.
`

// settings are what the environment says.
type settings struct {
	address        string
	gateway        dynamodb.Settings
	snapshotEvery  int
	storeTimeout   time.Duration
	trustedProxies rest.Proxies
	logLevel       slog.Level
	logFormat      logging.Format
}

// readSettings reads all variables, or tells everything that is wrong with them.
func readSettings(getenv func(string) string) (settings, error) {
	reader := config.NewReader(getenv)
	reader.OneOf("EVENT_STORE", "dynamodb", "dynamodb")
	reader.URL("AWS_ENDPOINT_URL_DYNAMODB", "") // the SDK reads it itself; here it is checked
	s := settings{
		address: reader.Address("WRITE_API_ADDR", ":28080"),
		gateway: dynamodb.Settings{
			JournalTable:  reader.String("JOURNAL_TABLE", "journal"),
			SnapshotTable: reader.String("SNAPSHOT_TABLE", "snapshot"),
			Shards:        reader.Int("SHARD_COUNT", dynamodb.DefaultShards, 1, 1<<16),
			SnapshotKeep:  reader.Int("SNAPSHOT_KEEP", 1, 0, 1000),
			SnapshotTTL:   reader.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour),
			Clock:         time.Now,
		},
		snapshotEvery: reader.Int("SNAPSHOT_EVERY", 100, 1, 1_000_000),
		storeTimeout:  reader.Duration("STORE_TIMEOUT", 5*time.Second, 100*time.Millisecond, 12*time.Second),
	}
	var levelErr, formatErr, proxiesErr error
	s.logLevel, levelErr = logging.ParseLevel(reader.String("LOG_LEVEL", "info"))
	s.logFormat, formatErr = logging.ParseFormat(reader.String("LOG_FORMAT", "json"))
	s.trustedProxies, proxiesErr = rest.ParseProxies(reader.String("TRUSTED_PROXIES", ""))
	return s, errors.Join(
		reader.Err(),
		naming("LOG_LEVEL", levelErr),
		naming("LOG_FORMAT", formatErr),
		naming("TRUSTED_PROXIES", proxiesErr),
		differing(s.gateway),
	)
}

func naming(variable string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}

func differing(tables dynamodb.Settings) error {
	if tables.JournalTable == tables.SnapshotTable {
		return fmt.Errorf("JOURNAL_TABLE and SNAPSHOT_TABLE are both %q; they must be two tables", tables.JournalTable)
	}
	return nil
}
