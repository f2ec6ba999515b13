// Command devservices finds or installs, starts and stops what this project needs on a developer's machine: DynamoDB
// Local and MySQL or MariaDB, and for development the programs of this clone. It works with and without Docker, on
// Linux and macOS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

const usage = `Usage: devservices COMMAND, in the folder of the clone

  exec -- command [argument...]   (make test)
      Starts DynamoDB Local and MySQL or MariaDB on free ports with empty, temporary data, runs the command with
      ` + dynamoDBVar + ` and ` + mySQLVar + ` in its environment, and stops them when it ends, when this
      program is interrupted, and when the process that started it dies. A service whose variable is set already is
      used as it is. The exit code is the command's; the command reads no input.

  up     (make dev-up)
      Starts in the background what does not run: the two services with durable data, and, after creating tables and
      schema, the programs, which it builds. Returns when all are ready. Data, logs, process ids and the built programs
      are in ./data/dev.

      Environment: DEV_DYNAMODB_PORT (28000), DEV_MYSQL_PORT (23306), WRITE_API_ADDR (:28080), UPDATER_ADDR (:28081),
      READ_API_ADDR (:28082), WEB_ADDR (:28083). The programs see the other variables as well, such as LOG_LEVEL and SNAPSHOT_EVERY, except
      for those that say where the data is: it is here.

  down   (make dev-down)
      Stops what up started, and keeps the data.

  migrate   (make migrate)
      Creates or updates DynamoDB tables and SQL schema: of the read model that DATABASE_URL names and the event store
      that EVENT_STORE names, which is the one of EVENT_STORE_URL, or DynamoDB as the AWS variables say; without
      DATABASE_URL, of the development services.

Exit code: 0 when it is done, 1 when something failed, 2 when the usage was wrong.
`

// guardCommand is what exec puts between itself and each process that it starts; nobody else calls it.
const guardCommand = "guard"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := withParent(ctx, os.Getppid)
	code, err := run(ctx, os.Args[1:])
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "devservices:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code where there is no error.
func run(ctx context.Context, args []string) (code int, err error) {
	switch {
	case len(args) > 1 && args[0] == guardCommand:
		return launch.Guard(args[1:], os.Stdin), nil
	case len(args) > 2 && args[0] == "exec" && args[1] == "--":
		return execute(ctx, newProgress(), args[2:])
	case len(args) == 1 && (args[0] == "-h" || args[0] == "--help"):
		fmt.Print(usage)
		return 0, nil
	case len(args) != 1 || !slices.Contains([]string{"up", "down", "migrate"}, args[0]):
		fmt.Fprint(os.Stderr, usage)
		return 2, nil
	}
	settings, err := readSettings(".", os.Getenv)
	if err != nil {
		return 0, err
	}
	system := system{settings, newProgress()}
	switch args[0] {
	case "up":
		if err := system.up(ctx); err != nil {
			return 0, err
		}
		return 0, settings.hints(os.Stdout)
	case "down":
		return 0, system.down(ctx)
	default:
		return 0, system.migrate(ctx)
	}
}

func newProgress() launch.Progress {
	begin := time.Now()
	return func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "devservices %5.1fs  %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, args...))
	}
}

const parentInterval = 500 * time.Millisecond

var errOrphaned = errors.New("the process that started this one is gone")

// withParent ends the context when the parent process dies, so that the services of a test run do not outlive it.
// getppid is os.Getppid: an orphan gets another parent.
func withParent(ctx context.Context, getppid func() int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := getppid()
	go func() {
		ticker := time.NewTicker(parentInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if getppid() != parent {
					cancel(errOrphaned)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
