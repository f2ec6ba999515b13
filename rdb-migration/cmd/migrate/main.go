// Command migrate migrates the relational schemas up to the version of this program. See migrate --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/erasure" // extra:erasure
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/program"
	rdbmigration "example.com/threads/rdb-migration"
)

const about = `
Applies the migrations of this program to the database of the read model, and to a relational event store. Both may be
in one database.
`

func main() { program.Main("migrate", run) }

type schemas struct {
	variable, url string
	sets          []migration.Set
}

func readSchemas(r *config.Reader) []schemas {
	rows := rdbmigration.ReadModel()
	rows = append(rows, tasks.Schema())   // extra:tasks
	rows = append(rows, tenants.Schema()) // extra:tenants
	all := []schemas{{"DATABASE_URL", eventstore.ReadDatabaseURL(r), rows}}
	if kind, url := eventstore.ReadURL(r); kind != eventstore.DynamoDB {
		events := []migration.Set{sqlstore.Schema()}
		events = slices.Insert(events, 0, erasure.Schema()) // extra:erasure
		all = append(all, schemas{"EVENT_STORE_URL", url, events})
	}
	return all
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if slices.Equal(args, []string{"up"}) {
		args = nil // up is all that it does
	}
	return program.With("migrate", about, readSchemas, migrateAll)(ctx, args, getenv, out)
}

func migrateAll(ctx context.Context, all []schemas, out io.Writer) error {
	for _, each := range all {
		if err := each.migrate(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

func (s schemas) migrate(ctx context.Context, out io.Writer) (err error) {
	db, err := database.Open(ctx, s.url, database.Settings{MaxConns: 2})
	if err != nil {
		return fmt.Errorf("%s: %w", s.variable, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, set := range s.sets {
		taken, err := migration.Up(ctx, db, set)
		if err != nil {
			return err
		}
		for _, file := range taken {
			fmt.Fprintf(out, "%s: applied %s\n", set.Name, file)
		}
		if len(taken) == 0 {
			fmt.Fprintf(out, "%s: nothing to do\n", set.Name)
		}
	}
	return nil
}
