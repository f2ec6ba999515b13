// Command migrate brings the relational schema to the version of this program, or back. See migrate --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/database"
	rdbmigration "example.com/threads/rdb-migration"
)

const usage = `usage: migrate up|down|status

  up      brings the schema to the version of this program
  down    takes the latest migration back, with what is in its tables
  status  lists the migrations and which of them the database has taken

DATABASE_URL names the database of the read model: user:password@tcp(127.0.0.1:3306)/threads for MySQL and MariaDB,
sqlite:data/readmodel.db for SQLite.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("expected one of up, down, status; migrate --help tells more")
	}
	var action func(context.Context, *sqlx.DB, rdbmigration.Set, io.Writer) error
	switch args[0] {
	case "-h", "-help", "--help", "help":
		_, err := io.WriteString(out, usage)
		return err
	case "up":
		action = up
	case "down":
		action = down
	case "status":
		action = status
	default:
		return fmt.Errorf("%q is none of up, down, status; migrate --help tells more", args[0])
	}
	db, err := database.Open(ctx, getenv("DATABASE_URL"), database.Settings{MaxConns: 2})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	return errors.Join(action(ctx, db, rdbmigration.ReadModel(), out), db.Close())
}

func up(ctx context.Context, db *sqlx.DB, set rdbmigration.Set, out io.Writer) error {
	taken, err := rdbmigration.Up(ctx, db, set)
	if err != nil {
		return err
	}
	for _, file := range taken {
		fmt.Fprintf(out, "%s: applied %s\n", set, file)
	}
	if len(taken) == 0 {
		fmt.Fprintf(out, "%s: nothing to do\n", set)
	}
	return nil
}

func down(ctx context.Context, db *sqlx.DB, set rdbmigration.Set, out io.Writer) error {
	file, err := rdbmigration.Down(ctx, db, set)
	switch {
	case err != nil:
		return err
	case file == "":
		fmt.Fprintf(out, "%s: nothing to take back\n", set)
	default:
		fmt.Fprintf(out, "%s: took %s back\n", set, file)
	}
	return nil
}

func status(ctx context.Context, db *sqlx.DB, set rdbmigration.Set, out io.Writer) error {
	migrations, err := rdbmigration.Status(ctx, db, set)
	if err != nil {
		return err
	}
	for _, migration := range migrations {
		state := "pending"
		if migration.Applied {
			state = "applied"
		}
		fmt.Fprintf(out, "%s: %s %s\n", set, state, migration.File)
	}
	return nil
}
