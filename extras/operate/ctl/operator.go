package ctl

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/infrastructure/config"
)

// operator is one call of the program.
type operator struct {
	read           func(*config.Reader) Settings
	getenv         func(string) string
	stdout, stderr io.Writer
}

const exitCodes = `
Exit code: 0 all is well, 1 something failed, 2 wrong usage, 3 something is wrong with the data, and was reported.
`

// program is the tree of commands.
func (o *operator) program() *cli.Command {
	root := &cli.Command{
		Name: "threadctl", Usage: "reports what is wrong with the data, and repairs it while the programs run",
		Writer: o.stdout, ErrWriter: o.stderr,
		ExitErrHandler:  func(context.Context, *cli.Command, error) {}, // main prints the error
		HideHelpCommand: true,
		Commands:        []*cli.Command{o.journal(), o.snapshots(), o.rows(), o.deadLetters(), o.prune()},
	}
	const variables = "\nENVIRONMENT VARIABLES (defaults in parentheses):\n"
	all := variables + config.Help(o.readRowSettings) + exitCodes
	prepare(root, all)
	for _, child := range root.Commands {
		if child.Name == "journal" || child.Name == "snapshots" {
			prepare(child, variables+config.Help(o.read)+exitCodes)
		}
	}
	root.CustomRootCommandHelpTemplate = cli.RootCommandHelpTemplate + all
	return root
}

// prepare gives every command its help and its usage errors.
func prepare(command *cli.Command, help string) {
	command.CustomHelpTemplate = cli.CommandHelpTemplate + help
	command.HideHelpCommand = true
	command.OnUsageError = func(_ context.Context, cmd *cli.Command, err error, _ bool) error { return wrong(cmd, err.Error()) }
	if command.Action == nil {
		command.Description = "The --help of each command explains what it does, its environment variables and its exit codes."
		command.Action = func(_ context.Context, cmd *cli.Command) error {
			names := make([]string, len(cmd.Commands))
			for i, child := range cmd.Commands {
				names[i] = child.Name
			}
			return wrong(cmd, "expected one of "+strings.Join(names, ", "))
		}
	}
	for _, child := range command.Commands {
		prepare(child, help)
	}
}

func wrong(cmd *cli.Command, problem string) error {
	return fmt.Errorf("%w: %s; see %s --help", errUsage, problem, cmd.FullName())
}

var (
	tenantFlag = &cli.StringFlag{Name: "tenant", Usage: "code of the tenant; empty is the tenant without a code"}
	jsonFlag   = &cli.BoolFlag{Name: "json", Usage: "print JSON for programs"}
)

// aggregateOf reads the argument AID and the flag --tenant.
func aggregateOf(cmd *cli.Command) (es.AggregateID, error) {
	if cmd.NArg() != 1 {
		return es.AggregateID{}, wrong(cmd, fmt.Sprintf("expected one AID, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z, and not %d", cmd.NArg()))
	}
	tenant, err := es.ParseTenant(cmd.String(tenantFlag.Name))
	if err != nil {
		return es.AggregateID{}, wrong(cmd, err.Error())
	}
	id, err := es.ParseAggregateID(tenant, cmd.Args().First())
	if err != nil {
		return id, wrong(cmd, err.Error())
	}
	id.ID = strings.ToUpper(id.ID)
	return id, nil
}

// noArgument, oneAggregate and maybeAggregate check the arguments before anything is opened.
func noArgument(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	if cmd.NArg() > 0 {
		return ctx, wrong(cmd, "the command takes no argument")
	}
	return ctx, nil
}

func oneAggregate(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	_, err := aggregateOf(cmd)
	return ctx, err
}

func maybeAggregate(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	if cmd.NArg() == 0 {
		return ctx, nil
	}
	return oneAggregate(ctx, cmd)
}

// whose names an aggregate for people.
func whose(tenant, aid string) string {
	if tenant == "" {
		return aid
	}
	return aid + " of tenant " + tenant
}
