// Package ctl has the commands of threadctl: they report what is wrong with the data and what to do next, and repair
// what they can while the programs run. They use the library's check, repair, verify and rebuild with the types,
// handlers and tables of this application. See extras/operate/README.md.
package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/program"
)

// Settings are what a program gives the commands: its settings, and how it opens its event store.
type Settings struct {
	SnapshotEvery int
	Logger        func(io.Writer) *slog.Logger
	Open          func(context.Context, *slog.Logger) (*eventstore.Store, error)
	// Unseal returns what opens the sealed texts in a payload; nil: none is sealed.
	Unseal func(context.Context, *eventstore.Store) (func(context.Context, es.Tenant, []byte) ([]byte, error), error)
	// Types are the aggregate types that the commands know.
	Types []es.AnyAggregate
	// ReadModel is the projection of the rows, and Schemas are those of its database.
	ReadModel run.ReadModel
	Schemas   []migration.Set
}

// errFound means that something is wrong with the data, and was reported.
var errFound = program.Exit(3, errors.New("not all is well; see above"))

const exitCodes = `
Exit code: 0 all is well, 1 something failed, 2 wrong usage, 3 something is wrong with the data, and was reported.
`

// Run runs one command. Results go to stdout, progress and log to stderr. Its error has the exit code.
func Run(
	ctx context.Context, read func(*config.Reader) Settings, args []string, getenv func(string) string, stdout, stderr io.Writer,
) error {
	o := &operator{read: read, getenv: getenv, stdout: stdout, stderr: stderr}
	root := o.commands()
	return root.Run(ctx, append([]string{"threadctl"}, helpFirst(root, args)...))
}

// helpFirst reduces a call for help to the command and --help, because the library takes an argument before --help for
// a topic.
func helpFirst(command *cli.Command, args []string) []string {
	if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
		return args
	}
	words := 0
	for words < len(args) {
		if command = command.Command(args[words]); command == nil {
			break
		}
		words++
	}
	return append(slices.Clone(args[:words]), "--help")
}

// operator is one call of the program.
type operator struct {
	read           func(*config.Reader) Settings
	getenv         func(string) string
	stdout, stderr io.Writer
}

// What a command needs open.
const (
	eventStore = 1 << iota
	readModel
)

// settings reads the settings of a command. It also sets databaseURL if the command needs the read model.
func (o *operator) settings(needs int, databaseURL *string) func(*config.Reader) Settings {
	return func(r *config.Reader) Settings {
		if needs&readModel != 0 {
			*databaseURL = eventstore.ReadDatabaseURL(r)
		}
		return o.read(r)
	}
}

// commands is the tree of commands.
func (o *operator) commands() *cli.Command {
	root := o.group("threadctl", "reports what is wrong with the data, and repairs it while the programs run",
		o.journal(), o.snapshots(), o.rows(), o.deadLetters(),
		o.prune(), // extra:chat
	)
	root.Writer, root.ErrWriter = o.stdout, o.stderr
	root.ExitErrHandler = func(context.Context, *cli.Command, error) {} // main prints the error
	root.CustomRootCommandHelpTemplate = cli.RootCommandHelpTemplate + o.help(eventStore|readModel)
	return root
}

// help describes the environment variables and the exit codes.
func (o *operator) help(needs int) string {
	return "\nENVIRONMENT VARIABLES (defaults in parentheses):\n" + config.Help(o.settings(needs, new(string))) + exitCodes
}

func (o *operator) group(name, usage string, commands ...*cli.Command) *cli.Command {
	names := make([]string, len(commands))
	for i, each := range commands {
		names[i] = each.Name
	}
	return &cli.Command{
		Name: name, Usage: usage, Commands: commands, HideHelpCommand: true, OnUsageError: usageError,
		CustomHelpTemplate: cli.CommandHelpTemplate + exitCodes,
		Description:        "The --help of each command explains what it does, its environment variables and its exit codes.",
		Action: func(_ context.Context, cmd *cli.Command) error {
			return wrong(cmd, "expected one of "+strings.Join(names, ", "))
		},
	}
}

var (
	tenantFlag = &cli.StringFlag{Name: "tenant", Usage: "code of the tenant; empty is the tenant without a code"}
	jsonFlag   = &cli.BoolFlag{Name: "json", Usage: "print JSON for programs"}
	dryRunFlag = &cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"}
)

// command completes a command. Its ArgsUsage says which argument it takes: none, AID or [AID]. The arguments and flags
// are checked before anything is opened.
func (o *operator) command(needs int, check func(*cli.Command) error, do func(*call, context.Context) error, command *cli.Command) *cli.Command {
	command.HideHelpCommand, command.OnUsageError = true, usageError
	command.CustomHelpTemplate = cli.CommandHelpTemplate + o.help(needs)
	command.Flags = append(command.Flags, jsonFlag)
	command.Action = func(ctx context.Context, cmd *cli.Command) error {
		c := &call{operator: o, cmd: cmd}
		if err := c.readArgument(); err != nil {
			return err
		}
		if check != nil {
			if err := check(cmd); err != nil {
				return err
			}
		}
		defer c.close(ctx)
		if err := c.open(ctx, needs); err != nil {
			return err
		}
		return do(c, ctx)
	}
	return command
}

func usageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	return wrong(cmd, err.Error())
}

func wrong(cmd *cli.Command, problem string) error {
	return fmt.Errorf("%w: %s; see %s --help", program.ErrUsage, problem, cmd.FullName())
}

// call is one call of a command.
type call struct {
	*operator
	Settings
	cmd   *cli.Command
	id    es.AggregateID // of the argument AID and the flag --tenant; zero: there is none
	log   *slog.Logger
	store *eventstore.Store // nil: the command does not need it
	db    *sqlx.DB          // of the read model; nil: the command does not need it
	found []any             // what the command reports, with --json
	line  *progressLine
}

func (c *call) readArgument() error {
	cmd, count := c.cmd, c.cmd.NArg()
	switch {
	case cmd.ArgsUsage == "" && count > 0:
		return wrong(cmd, "the command takes no argument")
	case cmd.ArgsUsage != "AID" && count == 0:
		return nil
	case count != 1:
		return wrong(cmd, fmt.Sprintf("expected one AID, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z, and not %d", count))
	}
	tenant, err := es.ParseTenant(cmd.String(tenantFlag.Name))
	if err == nil {
		c.id, err = es.ParseAggregateID(tenant, cmd.Args().First())
	}
	if err != nil {
		return wrong(cmd, err.Error())
	}
	c.id.ID = strings.ToUpper(c.id.ID)
	return nil
}

func (c *call) open(ctx context.Context, needs int) (err error) {
	var databaseURL string
	if c.Settings, err = config.Read(c.getenv, c.settings(needs, &databaseURL)); err != nil {
		return err
	}
	c.log, c.line = c.Logger(c.stderr), progressOn(c.stderr)
	if needs&readModel != 0 {
		if c.db, err = database.Open(ctx, databaseURL, database.Settings{Rebuildable: true, Logger: c.log}); err == nil {
			err = migration.Check(ctx, c.db, c.Schemas...)
		}
		if err != nil {
			return fmt.Errorf("DATABASE_URL: %w", err)
		}
	}
	if needs&eventStore != 0 {
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

// wanted reports whether the flags select an aggregate.
func (c *call) wanted(id es.AggregateID) bool {
	kind := c.cmd.String("type")
	return (!c.cmd.IsSet(tenantFlag.Name) || id.Tenant.String() == c.cmd.String(tenantFlag.Name)) && (kind == "" || id.Type == kind)
}

// whose names an aggregate for people.
func whose(id es.AggregateID) string {
	if id.Tenant == "" {
		return id.String()
	}
	return id.String() + " of tenant " + id.Tenant.String()
}

// commandLine returns a command about an aggregate, quoted, with more flags: names and values. Empty values are left
// out.
func commandLine(words string, id es.AggregateID, more ...string) string {
	line := words + " " + id.String()
	for flag := range slices.Chunk(append([]string{tenantFlag.Name, id.Tenant.String()}, more...), 2) {
		if flag[1] != "" {
			line += " --" + flag[0] + " " + flag[1]
		}
	}
	return "`" + line + "`"
}
