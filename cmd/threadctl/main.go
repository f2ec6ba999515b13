// Command threadctl is the operators' program; see threadctl --help. Its commands are in extras/operate/ctl.
package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es"                     // extra:tenants
	"example.com/threads/extras/archive"         // extra:archive
	"example.com/threads/extras/erasure"         // extra:erasure
	"example.com/threads/extras/erasure/awskeys" // extra:erasure
	"example.com/threads/extras/operate/ctl"
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/program"
)

func main() {
	program.Main("threadctl", func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
		return run(ctx, args, getenv, stdout, os.Stderr)
	})
}

// run writes results to stdout; progress and log go to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	read := func(r *config.Reader) ctl.Settings { return readSettings(r).ofCommands(getenv("DATABASE_URL")) }
	return ctl.Run(ctx, read, args, getenv, stdout, stderr)
}

type settings struct {
	store   eventstore.Settings
	archive archive.Folder    // extra:archive
	erasure erasure.Settings  // extra:erasure
	tenants tenants.Databases // extra:tenants
	logging logging.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.store = eventstore.ReadSettings(r)
	s.store.ReadSnapshots(r)
	s.store.ReadClock(r)
	s.archive = archive.ReadFolder(r)       // extra:archive
	s.erasure = erasure.ReadSettings(r, "") // extra:erasure
	s.tenants = tenants.ReadDatabases(r)    // extra:tenants
	s.logging = logging.ReadSettings(r, "error", "text")
	return s
}

func (s settings) ofCommands(databaseURL string) ctl.Settings {
	model := system.ReadModel()
	model.Tenants = s.tenants.In(databaseURL) // extra:tenants
	return ctl.Settings{
		Logger: s.logging.Logger,
		Open: func(ctx context.Context, log *slog.Logger) (*eventstore.Store, error) {
			store, err := dynamo.OpenAny(ctx, s.store, log, nil)
			s.archive.Behind(store) // extra:archive
			return store, err
		},
		// extra:erasure {
		Unseal: func(ctx context.Context, store *eventstore.Store) (func(context.Context, es.Tenant, []byte) ([]byte, error), error) {
			keys, err := awskeys.Open(ctx, s.erasure, store)
			return keys.OpenJSON, err
		},
		// extra:erasure }
		Types:     system.Types(),
		ReadModel: model,
		Schemas:   system.Schemas(),
	}
}
