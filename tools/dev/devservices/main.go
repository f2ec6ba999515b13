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
	"example.com/threads/tools/dev/devservices/internal/services" // extra:page
)

const usage = `Usage: devservices COMMAND, in the folder of the clone

  exec -- command [argument...]   (make test)
      Starts DynamoDB Local and MySQL or MariaDB on free ports with empty, temporary data, runs the command with
      ` + dynamoDBVar + ` and ` + mySQLVar + ` in its environment, and stops them when it ends, when this
      program is interrupted, or when its parent process dies. A service whose variable is set is
      not started. The exit code is the command's. The command gets no input.

  up     (make dev-up)
      Starts in the background what does not run: the two services with durable data, then, after migrating tables and
      schema, the programs, which it builds. Returns when all are ready. Data, logs, process ids and built programs are
      in ./data/dev.

      Environment: DEV_DYNAMODB_PORT (28000), DEV_MYSQL_PORT (23306), WRITE_API_ADDR (:28080), UPDATER_ADDR (:28081),
      READ_API_ADDR (:28082), WEB_ADDR (:28083), DEV_PUBLISH_URL (the updater's PUBLISH_URL; empty: nothing is
      published). The programs also get the other variables, such as LOG_LEVEL, AUTH and SNAPSHOT_EVERY, except those
      that name the data: the data is always in this clone. Run make dev-down before you change them: they are read when
      a program starts.

  down   (make dev-down)
      Stops what up started, and keeps the data.

  migrate   (make migrate)
      Creates or updates the DynamoDB tables and the SQL schema: those of the read model in DATABASE_URL and of the
      event store in EVENT_STORE (EVENT_STORE_URL, or DynamoDB with the AWS variables). Without DATABASE_URL, those of
      the development services.

` +
	"  browser   (make test-clients)\n      Installs Chromium if it is missing, where apt-get may.\n\n" + // extra:page
	`Exit code: 0 success, 1 failure, 2 wrong usage.
`

// guardCommand runs the process between exec and each process that it starts. Only exec uses it.
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

// run returns the exit code if there is no error.
func run(ctx context.Context, args []string) (code int, err error) {
	switch {
	case len(args) > 1 && args[0] == guardCommand:
		return launch.Guard(args[1:], os.Stdin), nil
	case len(args) > 2 && args[0] == "exec" && args[1] == "--":
		return execute(ctx, newProgress(), args[2:])
	case len(args) == 1 && (args[0] == "-h" || args[0] == "--help"):
		fmt.Print(usage)
		return 0, nil
	case len(args) == 1 && args[0] == "browser": // extra:page {
		return 0, services.Browser(ctx, newProgress()) // extra:page }
	case len(args) != 1 || !slices.Contains([]string{"up", "down", "migrate"}, args[0]):
		fmt.Fprint(os.Stderr, usage)
		return 2, nil
	}
	settings, err := readSettings(".", os.Getenv)
	if err != nil {
		return 0, err
	}
	system := devSystem{settings, newProgress()}
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
// getppid is os.Getppid: after its parent's death a process gets another parent.
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
