package architecture_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A migration that one database lacks would be found only where a test runs on that database.
func TestEachMigrationIsThereForEachDatabase(t *testing.T) {
	there := map[string][]string{}
	for _, database := range []string{"mysql", "sqlite"} {
		for _, folder := range []string{"../../rdb-migration/*", "../../*/*/migrations"} {
			files, err := filepath.Glob(filepath.Join(folder, database, "*.sql"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				there[database] = append(there[database], strings.Replace(file, "/"+database+"/", "/*/", 1))
			}
		}
	}
	if !slices.Equal(there["mysql"], there["sqlite"]) || len(there["mysql"]) < 3 {
		t.Errorf("the migrations of MySQL are %q, those of SQLite %q", there["mysql"], there["sqlite"])
	}
}
