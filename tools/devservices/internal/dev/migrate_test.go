package dev_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"example.com/threads/infrastructure/database"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/tests/testenv"
	"example.com/threads/tools/devservices/internal/dev"
)

const (
	tables = "migrating with ./tools/dynamodb-setup"
	schema = "migrating with ./rdb-migration/cmd/migrate"
)

func TestMigrateHereLeavesOutWhatIsNotTheEventStore(t *testing.T) {
	for kind, c := range map[string]struct {
		url  func(t *testing.T) string // of the relational databases
		want []string
	}{
		"":         {newFile, []string{tables, schema}},
		"dynamodb": {newFile, []string{tables, schema}},
		"sqlite":   {newFile, []string{schema}},
		"mysql":    {func(t *testing.T) string { return testenv.MySQL(t) }, []string{schema}},
	} {
		t.Run("EVENT_STORE="+kind, func(t *testing.T) {
			databaseURL, eventStoreURL := c.url(t), c.url(t)
			t.Setenv("EVENT_STORE", kind)
			t.Setenv("EVENT_STORE_URL", eventStoreURL)
			t.Setenv("DATABASE_URL", databaseURL)
			withoutAWS(t)
			if slices.Contains(c.want, tables) {
				withTables(t)
			}
			var did []string
			manager := dev.Manager{
				Settings: dev.Settings{Root: "../../../.."},
				Progress: func(format string, args ...any) { did = append(did, fmt.Sprintf(format, args...)) },
			}
			if err := manager.MigrateHere(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(did, c.want) {
				t.Errorf("did %q, want %q", did, c.want)
			}
			expectMigrated(t, databaseURL, rdbmigration.ReadModel())
			if !slices.Contains(c.want, tables) {
				expectMigrated(t, eventStoreURL, rdbmigration.EventStore())
			}
		})
	}
}

func newFile(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "rows.db") }

// withoutAWS is the environment of somebody who has nothing to do with AWS.
func withoutAWS(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL_DYNAMODB"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
}

// withTables names tables on DynamoDB Local that are not there yet.
func withTables(t *testing.T) {
	t.Helper()
	name := testenv.UniqueName(t)
	t.Setenv("AWS_REGION", testenv.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", testenv.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testenv.SecretAccessKey)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", testenv.DynamoDB(t))
	t.Setenv("JOURNAL_TABLE", name+"-journal")
	t.Setenv("SNAPSHOT_TABLE", name+"-snapshot")
}

func expectMigrated(t *testing.T, url string, set rdbmigration.Set) {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := rdbmigration.Check(t.Context(), db, set); err != nil {
		t.Error(err)
	}
}
