// Command dynamodb-setup creates missing DynamoDB tables of the event store, waits until they are active, and reports
// differences from their definition, which is in es/dynamodb. Of existing tables, it only turns expiry on where that is
// off, so it may run before every start, as in `make migrate`, `make dev-up` and the compose file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/threads/es/dynamodb"
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/program"
)

const about = `
Creates missing DynamoDB tables of the event store, waits until they are active, and reports differences from the
definition. Of existing tables, it only turns expiry (TTL) on where that is off. Exit code 3: a table differs.
`

var errDifferent = program.Exit(3, errors.New("the tables differ from their definition: "+
	"update them by hand, or name others in the settings of tables"))

var run = program.With("dynamodb-setup", about, readTables, createTables)

func main() { program.Main("dynamodb-setup", run) }

func readTables(r *config.Reader) []dynamodb.Table {
	tables := dynamodb.Tables(eventstore.ReadTables(r))
	tables = append(tables, awskeys.ReadTables(r)...) // extra:erasure
	return tables
}

func createTables(ctx context.Context, tables []dynamodb.Table, stdout io.Writer) error {
	cfg, err := dynamo.Load(ctx)
	if err != nil {
		return err
	}
	created, differences, err := dynamodb.SetUpTables(ctx, dynamodb.NewClient(cfg), tables)
	for _, what := range created {
		fmt.Fprintln(stdout, "created", what)
	}
	for _, difference := range differences {
		fmt.Fprintln(stdout, difference)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and the credentials, and run it again", err)
	case len(differences) > 0:
		return errDifferent
	}
	for _, table := range tables {
		fmt.Fprintf(stdout, "table %s is ready\n", table.Name)
	}
	return nil
}
