// Command migrate migrates the relational schemas up to the version of this program, or down. See migrate --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jmoiron/sqlx"

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

const usage = `usage: migrate up|down|status [readmodel|eventstore]

  up      applies all migrations of this program
  down    reverts the latest migration, deleting the data in its tables
  status  lists the migrations and whether they are applied

Without a second argument, up and status apply to the read model and to a relational event store, and down to the read
model only. Both may be in one database.

Environment variables (defaults in parentheses):
%s
Exit code: 0 success, 1 failure, 2 wrong usage.
`

func main() { program.Main("migrate", run) }

var actions = map[string]func(context.Context, *sqlx.DB, []migration.Set, io.Writer) error{"up": up, "down": down, "status": status}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if program.WantsHelp(args) || slices.Equal(args, []string{"help"}) {
		_, err := fmt.Fprintf(out, usage, config.Help(databases("")))
		return err
	}
	args = append(args, "", "") // those that are left out
	action, schema := actions[args[0]], args[1]
	switch {
	case action == nil || len(args) > 4:
		return fmt.Errorf("%w: expected one of up, down, status; see migrate --help", program.ErrUsage)
	case !slices.Contains([]string{"", "readmodel", "eventstore"}, schema):
		return fmt.Errorf("%w: %q is not readmodel or eventstore; see migrate --help", program.ErrUsage, schema)
	case schema == "" && args[0] == "down":
		schema = "readmodel" // to lose the events, name them
	}
	wanted, err := config.Read(getenv, databases(schema))
	if err != nil {
		return err
	}
	for _, each := range wanted {
		db, err := database.Open(ctx, each.url, database.Settings{MaxConns: 2})
		if err != nil {
			return fmt.Errorf("%s: %w", each.variable, err)
		}
		if err := errors.Join(action(ctx, db, each.sets, out), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// schemas are those in a database.
type schemas struct {
	variable, url string
	sets          []migration.Set
}

// databases returns what reads where the schemas are: readmodel, eventstore whether it is in use or not, or all in use.
func databases(schema string) func(*config.Reader) []schemas {
	return func(r *config.Reader) (found []schemas) {
		if schema != "eventstore" {
			sets := rdbmigration.ReadModel()
			sets = append(sets, tasks.Schema())   // extra:tasks
			sets = append(sets, tenants.Schema()) // extra:tenants
			found = append(found, schemas{"DATABASE_URL", eventstore.ReadDatabaseURL(r), sets})
		}
		if schema == "readmodel" {
			return found
		}
		if kind, url := eventstore.ReadURL(r); schema == "eventstore" || kind != eventstore.DynamoDB {
			sets := []migration.Set{sqlstore.Schema()}
			sets = slices.Insert(sets, 0, erasure.Schema()) // extra:erasure
			found = append(found, schemas{"EVENT_STORE_URL", url, sets})
		}
		return found
	}
}

func up(ctx context.Context, db *sqlx.DB, sets []migration.Set, out io.Writer) error {
	for _, set := range sets {
		taken, err := migration.Up(ctx, db, set)
		if err != nil {
			return err
		}
		for _, file := range taken {
			fmt.Fprintf(out, "%s: applied %s\n", set, file)
		}
		if len(taken) == 0 {
			fmt.Fprintf(out, "%s: nothing to do\n", set)
		}
	}
	return nil
}

// down reverts the latest migration of the last set that has one.
func down(ctx context.Context, db *sqlx.DB, sets []migration.Set, out io.Writer) error {
	for _, set := range slices.Backward(sets) {
		file, err := migration.Down(ctx, db, set)
		if err != nil {
			return err
		}
		if file != "" {
			fmt.Fprintf(out, "%s: took %s back\n", set, file)
			return nil
		}
	}
	fmt.Fprintf(out, "%s: nothing to revert\n", sets[len(sets)-1])
	return nil
}

func status(ctx context.Context, db *sqlx.DB, sets []migration.Set, out io.Writer) error {
	for _, set := range sets {
		migrations, err := migration.Status(ctx, db, set)
		if err != nil {
			return err
		}
		for _, one := range migrations {
			fmt.Fprintf(out, "%s: %s %s\n", set, one.State, one.Source.Path)
		}
	}
	return nil
}
