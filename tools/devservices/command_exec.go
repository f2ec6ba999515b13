package main

import (
	"context"
	"errors"
	"os"

	"github.com/urfave/cli/v3"

	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
	"example.com/threads/tools/devservices/internal/testservices"
)

func execCommand(progress install.Progress) *cli.Command {
	one := 1
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command with services of its own",
		UsageText: "devservices exec [--docker] [--] command [argument...]",
		Description: "Starts both services on free ports with empty, temporary data, runs the command with\n" +
			testservices.DynamoDBVar + " and " + testservices.MySQLVar + " in its environment, and stops the services\n" +
			"when it ends, when this program is interrupted, and when the process that started it dies.\n" +
			"A service whose variable is set already is used as it is. The exit code is the command's;\n" +
			"the command reads no input.",
		Flags:        []cli.Flag{dockerFlag},
		StopOnNthArg: &one,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			argv := cmd.Args().Slice()
			if len(argv) == 0 {
				return errors.New("exec needs a command; devservices exec --help tells more")
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			runner := testservices.Runner{
				Progress: progress, Guard: []string{self, guardName}, PreferDocker: cmd.Bool(dockerFlag.Name),
			}
			code, err := runner.Exec(ctx, argv)
			if err == nil && code != 0 {
				err = exitCode(code)
			}
			return err
		},
	}
}

const guardName = "guard"

// guardCommand is what exec puts between itself and each service; nobody else calls it.
func guardCommand() *cli.Command {
	return &cli.Command{
		Name:            guardName,
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(_ context.Context, cmd *cli.Command) error {
			return exitCode(launch.Guard(cmd.Args().Slice(), os.Stdin))
		},
	}
}
