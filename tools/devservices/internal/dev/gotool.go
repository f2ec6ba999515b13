package dev

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// migrations are the programs that bring tables and schema to their present state, for this value of
// EVENT_STORE. They change nothing that is there already. DynamoDB has tables only where it is the
// event store.
func migrations(eventStore string) [][]string {
	schema := []string{"./rdb-migration/cmd/migrate", "up"}
	if eventStore != "" && eventStore != dynamoDBStore {
		return [][]string{schema}
	}
	return [][]string{{"./tools/dynamodb-setup"}, schema}
}

// dynamoDBStore is the value of EVENT_STORE for DynamoDB, which holds without one, too.
const dynamoDBStore = "dynamodb"

// Migrate runs the migrations on the development services.
func (m Manager) Migrate(ctx context.Context) error {
	return m.migrate(ctx, migrations(dynamoDBStore), m.Settings.environment())
}

// MigrateHere runs the migrations on what this process's environment names, as for AWS.
func (m Manager) MigrateHere(ctx context.Context) error {
	return m.migrate(ctx, migrations(os.Getenv("EVENT_STORE")), os.Environ())
}

func (m Manager) migrate(ctx context.Context, migrations [][]string, env []string) error {
	for _, migration := range migrations {
		m.Progress("migrating with %s", migration[0])
		if err := m.goTool(ctx, env, append([]string{"run"}, migration...)...); err != nil {
			return err
		}
	}
	return nil
}

func (m Manager) build(ctx context.Context, program string) error {
	source := "./cmd/" + program
	if _, err := fs.Stat(os.DirFS(m.Settings.Root), filepath.Join("cmd", program)); err != nil {
		return fmt.Errorf("%s is not in this clone: %w", source, err)
	}
	m.Progress("building %s", program)
	return m.goTool(ctx, os.Environ(), "build", "-o", filepath.Join("bin", program), source)
}

func (m Manager) goTool(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.Settings.Root
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %v: %w", args, err)
	}
	return nil
}
