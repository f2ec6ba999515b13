package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/logging"
)

const usage = `Usage: read-api

Answers GraphQL queries and subscriptions on chat threads from the read model: POST /graphql; GET / is a page to try them
on. SIGINT and SIGTERM end it once the queries that it has accepted are answered; the clients of subscriptions are told to
connect again.

Environment, with what holds where a variable is not set:
  READ_API_ADDR           address to listen on (:28082)
  DATABASE_URL            database of the read model: user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db (none: it has to be set)
  READ_WAIT_TIMEOUT       how long a query waits for the versions of its Consistency-Token, up to 8s (2s)
  QUERY_COMPLEXITY_LIMIT  the most fields times page sizes of an operation (20000)
  LOG_LEVEL               debug, info, warn or error (info)
  LOG_FORMAT              json or text (json)

Exit code: 0 after a stop, 1 when something failed, 2 when the usage was wrong.
`

// settings are what the environment says.
type settings struct {
	address         string
	databaseURL     string
	waitTimeout     time.Duration
	complexityLimit int
	logLevel        slog.Level
	logFormat       logging.Format
}

// readSettings reads all variables, or tells everything that is wrong with them.
func readSettings(getenv func(string) string) (settings, error) {
	reader := config.NewReader(getenv)
	s := settings{
		address:         reader.Address("READ_API_ADDR", ":28082"),
		databaseURL:     reader.Secret("DATABASE_URL", "user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db", nil),
		waitTimeout:     reader.Duration("READ_WAIT_TIMEOUT", 2*time.Second, time.Millisecond, 8*time.Second),
		complexityLimit: reader.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000),
	}
	var levelErr, formatErr error
	s.logLevel, levelErr = logging.ParseLevel(reader.String("LOG_LEVEL", "info"))
	s.logFormat, formatErr = logging.ParseFormat(reader.String("LOG_FORMAT", "json"))
	return s, errors.Join(reader.Err(), naming("LOG_LEVEL", levelErr), naming("LOG_FORMAT", formatErr))
}

func naming(variable string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}
