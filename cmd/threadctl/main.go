package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/eventstore/dynamo"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/extras/erasure"         // extra:erasure
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/extras/operate/ctl"
	"example.com/threads/infrastructure/config"
)

func main() {
	if err := memory.Manage(); err != nil {
		fmt.Fprintf(os.Stderr, "threadctl: %v\n", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "threadctl:", err)
	}
	os.Exit(ctl.ExitCode(err))
}

// run writes results to stdout; progress and log go to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	read := func(r *config.Reader) ctl.Settings { return readSettings(r).ofCommands() }
	return ctl.Run(ctx, read, args, getenv, stdout, stderr)
}

// settings are read from the environment.
type settings struct {
	store         eventstore.Settings
	erasure       erasure.Settings // extra:erasure
	snapshotEvery int
	logging       program.Logging
}

func readSettings(r *config.Reader) settings {
	return settings{
		store:         eventstore.ReadSettings(r),
		erasure:       erasure.ReadSettings(r, ""), // extra:erasure
		snapshotEvery: writeapi.ReadSnapshotEvery(r),
		logging:       program.ReadLoggingWith(r, "error", "text"),
	}
}

// ofCommands returns what the commands work with.
func (s settings) ofCommands() ctl.Settings {
	return ctl.Settings{
		SnapshotEvery: s.snapshotEvery,
		Logger:        s.logging.Logger,
		Open: func(ctx context.Context, log *slog.Logger) (*ctl.Store, error) {
			store, err := dynamo.Open(ctx, s.store, eventstore.Ports{Log: log})
			if err != nil {
				return nil, err
			}
			opened := &ctl.Store{Kind: s.store.Kind, Gateway: store.Gateway, Close: store.Close}
			// extra:erasure {
			opened.Unseal = func(ctx context.Context) (func(context.Context, es.Tenant, []byte) ([]byte, error), error) {
				keys, err := awskeys.Open(ctx, s.erasure, store)
				return keys.OpenJSON, err
			}
			// extra:erasure }
			return opened, nil
		},
		Types:     aggregates.Types(),
		ReadModel: updater.ReadModel(),
		Schemas:   readmodel.Schemas(),
	}
}
