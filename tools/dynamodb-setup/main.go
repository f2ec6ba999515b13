// Command dynamodb-setup creates missing DynamoDB tables of the event store, waits until they are active, and reports
// differences from the definition in package schema. It does not change existing tables, so it may run before every
// start, as in `make migrate`, `make dev-up` and the compose file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"example.com/threads/es/dynamodb/schema"
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
)

const usage = `Usage: dynamodb-setup

Creates missing DynamoDB tables of the event store, waits until they are active, and reports differences from the
definition. It does not change existing tables.

Environment variables (defaults in parentheses):
%s
Exit code: 0 the tables are as defined, 1 failure, 2 wrong usage, 3 a table differs.
`

var (
	errUsage     = errors.New("dynamodb-setup takes no arguments; see dynamodb-setup --help")
	errDifferent = errors.New("the tables differ from their definition, and were not changed: " +
		"update them by hand, or set JOURNAL_TABLE and SNAPSHOT_TABLE to others")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "dynamodb-setup:", err)
	stop()
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case errors.Is(err, errDifferent):
		os.Exit(3)
	default:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	flags := flag.NewFlagSet("dynamodb-setup", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprintf(stdout, usage, config.Help(readTables))
		return err
	case err != nil || flags.NArg() > 0:
		return errUsage
	}

	tables, err := config.Read(getenv, readTables)
	if err != nil {
		return err
	}
	cfg, err := awsclient.Load(ctx)
	if err != nil {
		return err
	}
	report, err := schema.Setup(ctx, awsclient.DynamoDB(cfg), tables)
	for _, created := range report.Created {
		fmt.Fprintln(stdout, "created", created)
	}
	for _, difference := range report.Differences {
		fmt.Fprintln(stdout, difference)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and the credentials, and run it again", err)
	case len(report.Differences) > 0:
		return errDifferent
	}
	for _, table := range tables {
		fmt.Fprintf(stdout, "table %s is ready\n", table.Name)
	}
	return nil
}

// readTables reads which tables are needed.
func readTables(r *config.Reader) []schema.Table {
	names := stores.ReadTables(r)
	tables := schema.Tables(names.Journal, names.Snapshot)
	tables = append(tables, awskeys.ReadTables(r)...) // extra:erasure
	return tables
}
