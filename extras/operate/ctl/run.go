// Package ctl has the commands of threadctl: they report what is wrong with the data and what to do next, and repair
// what they can while the programs run. See extras/operate/README.md.
package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/program"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// Settings are what a program gives the commands: its settings, and how it opens its event store.
type Settings struct {
	Logger func(io.Writer) *slog.Logger
	Open   func(context.Context, *slog.Logger) (*eventstore.Store, error)
	// Unseal returns what opens the sealed texts in a payload; nil: none is sealed.
	Unseal    func(context.Context, *eventstore.Store) (func(context.Context, es.Tenant, []byte) ([]byte, error), error)
	Types     []es.AnyAggregate // that the commands know
	ReadModel run.ReadModel
	Schemas   []migration.Set // of the database of the read model
}

// commands are the commands, and what follows them in a call. needs says what a command needs open.
type commands struct {
	JSON bool `help:"print JSON for programs, not YAML"`

	Journal struct {
		Show    show   `cmd:"" needs:"events" help:"prints the head, snapshots and events of an aggregate"`
		Check   check  `cmd:"" needs:"events" help:"reports what is wrong"`
		Repair  repair `cmd:"" needs:"events" help:"corrects the head from the journal"`
		Archive move   `cmd:"" needs:"events" help:"copies old events to the files of an archive, and removes them"` // extra:archive
	} `cmd:"" help:"shows and checks events, heads and snapshots, and repairs heads"`
	Snapshots struct {
		Due  due  `cmd:"" needs:"events" help:"lists the aggregates more than SNAPSHOT_EVERY ahead of their snapshot, which take longer to load; on DynamoDB it reads the whole snapshot table"`
		Take take `cmd:"" needs:"events" help:"writes the snapshot of one aggregate, or all that are due, also beside the programs"`
	} `cmd:"" help:"lists aggregates with a snapshot due, and writes it"`
	Rows struct {
		Verify  verify  `cmd:"" needs:"events,rows" help:"reports how rows differ from the journal"`
		Rebuild rebuild `cmd:"" needs:"events,rows" help:"rebuilds the read model beside the live one, then switches"`
	} `cmd:"" help:"compares the read model with the journal, and repairs or rebuilds it"`
	DeadLetters struct {
		List  listLetters `cmd:"" needs:"rows" help:"lists parked aggregates and failing commands of all projections and processes"`
		Show  showLetter  `cmd:"" needs:"events,rows" help:"shows why one is parked or fails, with the event or the command"`
		Retry retryLetter `cmd:"" needs:"rows" help:"retries one, or all of the projection or process"`
		Skip  skipLetter  `cmd:"" needs:"rows" help:"skips the event that an aggregate is parked on, or drops a failing command"`
	} `cmd:"" help:"lists, retries or skips parked aggregates and failing commands"`
	Prune prune `cmd:"" needs:"rows" help:"drops old rows of deleted threads, members and messages"` // extra:chat
}

const (
	about = "Reports what is wrong with the data, and repairs it while the programs run. " +
		"The --help of each command explains what it does, its environment variables and its exit codes."
	exitCodes = `
Exit code: 0 all is well, 1 something failed, 2 wrong usage, 3 something is wrong with the data, and was reported.
`
)

// errFound means that something is wrong with the data, and was reported.
var errFound = program.Exit(3, errors.New("not all is well; see above"))

// Run runs one command. Results go to stdout, progress and log to stderr. Its error has the exit code.
func Run(
	ctx context.Context, read func(*config.Reader) Settings, args []string, getenv func(string) string, stdout, stderr io.Writer,
) error {
	c := &call{read: read, getenv: getenv, stdout: stdout, stderr: stderr}
	user := cmp.Or(getenv("USER"), fmt.Sprintf("user %d", os.Getuid())) // in a container USER may not be set
	parser, err := kong.New(&c.commands, kong.Name("threadctl"), kong.Description(about), kong.Writers(stdout, stderr),
		kong.Vars{"read_model": chatrows.Projection, "user": user})
	if err != nil {
		return err
	}
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return c.help(parser, args)
	}
	command, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w: %w; see --help", program.ErrUsage, err)
	}
	defer c.close(ctx)
	if err := c.open(ctx, command.Selected().Tag.Get("needs")); err != nil {
		return err
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(c)
}

// help describes the command that the arguments name, its environment variables and its exit codes.
func (c *call) help(parser *kong.Kong, args []string) error {
	named, err := kong.Trace(parser, args) // as far as the arguments are right
	if err == nil {
		err = named.PrintUsage(false)
	}
	if err != nil {
		return err
	}
	needs := "events,rows"
	if command := named.Selected(); command != nil {
		needs = command.Tag.Get("needs")
	}
	_, err = fmt.Fprint(c.stdout, "\nEnvironment variables (defaults in parentheses):\n", config.Help(c.settings(needs)), exitCodes)
	return err
}

// call is one call of the program.
type call struct {
	commands
	read           func(*config.Reader) Settings
	getenv         func(string) string
	stdout, stderr io.Writer

	Settings
	databaseURL string // of the read model
	log         *slog.Logger
	store       *eventstore.Store // nil: the command does not need it
	db          *sqlx.DB          // of the read model; nil: the command does not need it
	found       []any             // what the command reports, with --json
	listed      int               // what it has reported already, without
	terminal    io.Writer         // for the progress; nil: there is none
	next        time.Time         // when progress is shown again
}

func (c *call) settings(needs string) func(*config.Reader) Settings {
	return func(r *config.Reader) Settings {
		if strings.Contains(needs, "rows") {
			c.databaseURL = eventstore.ReadDatabaseURL(r)
		}
		return c.read(r)
	}
}

func (c *call) open(ctx context.Context, needs string) (err error) {
	if c.Settings, err = config.Read(c.getenv, c.settings(needs)); err != nil {
		return err
	}
	c.log = c.Logger(c.stderr)
	if file, isFile := c.stderr.(*os.File); isFile {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			c.terminal = file
		}
	}
	if strings.Contains(needs, "rows") {
		if c.db, err = database.Open(ctx, c.databaseURL, database.Settings{MustExist: true, Rebuildable: true, Logger: c.log}); err == nil {
			err = migration.Check(ctx, c.db, c.Schemas...)
		}
		if err != nil {
			return fmt.Errorf("DATABASE_URL: %w", err)
		}
	}
	if strings.Contains(needs, "events") {
		c.store, err = c.Open(ctx, c.log)
	}
	return err
}

func (c *call) close(ctx context.Context) {
	if c.store != nil {
		_ = c.store.Close(context.WithoutCancel(ctx))
	}
	if c.db != nil {
		_ = c.db.Close()
	}
}
