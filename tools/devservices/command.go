package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"example.com/threads/tools/devservices/internal/install"
)

func command(progress install.Progress) *cli.Command {
	return &cli.Command{
		Name:            "devservices",
		Usage:           "finds or installs, starts and stops DynamoDB Local and MySQL or MariaDB",
		ExitErrHandler:  func(context.Context, *cli.Command, error) {}, // main says it
		HideHelpCommand: true,
		Commands: []*cli.Command{
			execCommand(progress), upCommand(progress), downCommand(progress), migrateCommand(progress), guardCommand(),
		},
	}
}

var dockerFlag = &cli.BoolFlag{
	Name:  "docker",
	Usage: "use the official Docker images even where the programs are installed",
}
