package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"example.com/threads/tools/devservices/internal/dev"
	"example.com/threads/tools/devservices/internal/install"
)

var servicesFlag = &cli.BoolFlag{
	Name:  "services-only",
	Usage: "start DynamoDB Local and MySQL or MariaDB alone: no tables, no programs",
}

func upCommand(progress install.Progress) *cli.Command {
	return &cli.Command{
		Name:  "up",
		Usage: "start the development system in the background",
		Description: "Starts the two services with durable data, creates tables and schema, builds and starts\n" +
			"write-api, read-model-updater and read-api, and returns when all are ready. What runs already is\n" +
			"left alone. Data, logs and process ids are in ./data/dev, the built programs in ./bin.\n\n" +
			"Environment: DEV_DYNAMODB_PORT (28000), DEV_MYSQL_PORT (23306), WRITE_API_ADDR (:28080),\n" +
			"UPDATER_ADDR (:28081), READ_API_ADDR (:28082). The programs see the other variables as well, such\n" +
			"as LOG_LEVEL and SNAPSHOT_EVERY, except for those that say where the data is: it is here.",
		Flags: []cli.Flag{dockerFlag, servicesFlag},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			manager, err := newManager(progress, cmd.Bool(dockerFlag.Name))
			if err != nil {
				return err
			}
			if cmd.Bool(servicesFlag.Name) {
				return manager.Services(ctx)
			}
			if err := manager.Up(ctx); err != nil {
				return err
			}
			return manager.Settings.Hints(os.Stdout)
		},
	}
}

func downCommand(progress install.Progress) *cli.Command {
	return &cli.Command{
		Name:  "down",
		Usage: "stop what up started, and keep the data",
		Action: func(ctx context.Context, _ *cli.Command) error {
			manager, err := newManager(progress, false)
			if err != nil {
				return err
			}
			return manager.Down(ctx)
		},
	}
}

func migrateCommand(progress install.Progress) *cli.Command {
	return &cli.Command{
		Name:  "migrate",
		Usage: "create or update the DynamoDB tables and the SQL schema",
		Description: "Works on the read model that DATABASE_URL names and the event store that EVENT_STORE names: the\n" +
			"one of EVENT_STORE_URL, or DynamoDB as the AWS variables say; without DATABASE_URL, on the\n" +
			"development services of up.",
		Action: func(ctx context.Context, _ *cli.Command) error {
			manager, err := newManager(progress, false)
			if err != nil {
				return err
			}
			if os.Getenv("DATABASE_URL") != "" {
				return manager.MigrateHere(ctx)
			}
			return manager.Migrate(ctx)
		},
	}
}

func newManager(progress install.Progress, preferDocker bool) (dev.Manager, error) {
	settings, err := dev.ReadSettings(".", os.Getenv)
	return dev.Manager{Settings: settings, Progress: progress, PreferDocker: preferDocker}, err
}
