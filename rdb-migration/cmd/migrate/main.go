// Command migrate migrates the relational schemas up to the version of this program, or down. See migrate --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/erasure" // extra:erasure
	"example.com/threads/extras/tasks"   // extra:tasks
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(exitCode(err))
	}
}

var errUsage = errors.New("wrong usage; see migrate --help")

func exitCode(err error) int {
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

type action func(context.Context, *sqlx.DB, []migration.Set, io.Writer) error

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) == 0 || len(args) > 2 {
		return fmt.Errorf("%w: expected one of up, down, status", errUsage)
	}
	var do action
	switch args[0] {
	case "-h", "-help", "--help", "help":
		_, err := fmt.Fprintf(out, usage, config.Help(all))
		return err
	case "up":
		do = up
	case "down":
		do = down
	case "status":
		do = status
	default:
		return fmt.Errorf("%w: %q is not one of up, down, status", errUsage, args[0])
	}
	wanted, err := targets(args, getenv)
	if err != nil {
		return err
	}
	for _, t := range wanted {
		if err := t.run(ctx, do, out); err != nil {
			return err
		}
	}
	return nil
}

// target is a database with its schemas.
type target struct {
	sets          []migration.Set // with down: the last one whose migrations are not all reverted
	variable, url string          // name of the variable and URL of the database
}

// targets returns the schemas that args select. Down must name the event store, because its events would be lost.
func targets(args []string, getenv func(string) string) ([]target, error) {
	switch {
	case len(args) == 2 && args[1] == "eventstore":
		return config.Read(getenv, eventStore)
	case len(args) == 2 && args[1] != "readmodel":
		return nil, fmt.Errorf("%w: %q is not readmodel or eventstore", errUsage, args[1])
	case len(args) == 2, args[0] == "down":
		return config.Read(getenv, readModel)
	default:
		return config.Read(getenv, all)
	}
}

func readModel(r *config.Reader) []target {
	sets := rdbmigration.ReadModel()
	sets = append(sets, tasks.Schema())   // extra:tasks
	sets = append(sets, tenants.Schema()) // extra:tenants
	return []target{{sets, "DATABASE_URL", stores.ReadDatabaseURL(r)}}
}

// eventStore returns the target of EVENT_STORE_URL, whether it is in use or not.
func eventStore(r *config.Reader) []target {
	_, url := stores.ReadEventStore(r)
	return []target{inEventStore(url)}
}

func inEventStore(url string) target {
	var sets []migration.Set
	sets = append(sets, erasure.Schema()) // extra:erasure
	return target{append(sets, sqlstore.Schema()), "EVENT_STORE_URL", url}
}

func all(r *config.Reader) []target {
	found := readModel(r)
	if kind, url := stores.ReadEventStore(r); kind != stores.DynamoDB {
		found = append(found, inEventStore(url))
	}
	return found
}

func (t target) run(ctx context.Context, do action, out io.Writer) error {
	db, err := database.Open(ctx, t.url, database.Settings{MaxConns: 2})
	if err != nil {
		return fmt.Errorf("%s: %w", t.variable, err)
	}
	return errors.Join(do(ctx, db, t.sets, out), db.Close())
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
			state := "pending"
			if one.Applied {
				state = "applied"
			}
			fmt.Fprintf(out, "%s: %s %s\n", set, state, one.File)
		}
	}
	return nil
}
