package architecture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/threads/tests/kit"
)

// migrations returns the files for a database.
func migrations(t *testing.T, database string) (files []string) {
	t.Helper()
	for _, folder := range []string{"../../rdb-migration/*", "../../*/*/migrations"} {
		found, err := filepath.Glob(filepath.Join(folder, database, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// A migration that one database lacks would be found only where a test runs on that database.
func TestEachMigrationIsThereForEachDatabase(t *testing.T) {
	there := map[string][]string{}
	for _, database := range []string{"mysql", "sqlite"} {
		for _, file := range migrations(t, database) {
			if !numbered.MatchString(filepath.Base(file)) {
				t.Errorf("%s is left out, as its name does not begin with a number of five digits", file)
			}
			there[database] = append(there[database], strings.Replace(file, "/"+database+"/", "/*/", 1))
		}
	}
	if !slices.Equal(there["mysql"], there["sqlite"]) || len(there["mysql"]) < 3 {
		t.Errorf("the migrations of MySQL are %q, those of SQLite %q", there["mysql"], there["sqlite"])
	}
}

// Databases may have run what is in the branch main: goose does not run it again.
func TestReleasedMigrationsStay(t *testing.T) {
	for _, file := range append(migrations(t, "mysql"), migrations(t, "sqlite")...) {
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if released, is := kit.Released(t, file); is && !bytes.Equal(now, released) {
			t.Errorf("%s is in the branch main, and not like this: put the change into a new file, with the next number", file)
		}
	}
}

var (
	numbered  = regexp.MustCompile(`^\d{5}_`)
	comments  = regexp.MustCompile(`--.*`)
	adds      = regexp.MustCompile(`(?is)^(CREATE|INSERT|ALTER TABLE \w+ ADD)\b`)
	addsIndex = regexp.MustCompile(`(?i)\bCREATE (UNIQUE )?INDEX\b`)
	takes     = regexp.MustCompile(`(?i)\b(DROP|RENAME|MODIFY|CHANGE|ALTER) (COLUMN|INDEX|KEY|TO)\b`)
)

// Programs of the release before work on the new schema: until they are replaced, and after a roll-back.
func TestMigrationsOnlyAdd(t *testing.T) {
	for _, file := range append(migrations(t, "mysql"), migrations(t, "sqlite")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		up = strings.TrimSpace(comments.ReplaceAllString(up, ""))
		if adds := strings.Contains(up, "ALTER TABLE") || strings.Contains(file, "mysql") && addsIndex.MatchString(up); adds && strings.Count(up, ";") > 1 {
			t.Errorf("%s: a migration that adds a column or an index does nothing else, so that it can be repeated after it was killed", file)
		}
		for statement := range strings.SplitSeq(up, ";") {
			if statement = strings.TrimSpace(statement); statement != "" && (!adds.MatchString(statement) || takes.MatchString(statement)) {
				t.Errorf("%s: programs of the release before may need what it takes away: %s", file, statement)
			}
		}
	}
}
