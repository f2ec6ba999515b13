package projectionstore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/database"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	rdbmigration "example.com/threads/rdb-migration"
	"example.com/threads/tests/testenv"
	"example.com/threads/usecase/projection/projectiontest"
)

func TestContractOnMySQL(t *testing.T) {
	projectiontest.Run(t, func(t *testing.T) projectiontest.Database { return open(t, testenv.MySQL(t)) })
}

func TestContractOnSQLite(t *testing.T) {
	projectiontest.Run(t, func(t *testing.T) projectiontest.Database {
		return open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))
	})
}

// fixture is a store whose database can be made to refuse data.
type fixture struct {
	*projectionstore.Store
	db *sqlx.DB
}

func open(t *testing.T, url string) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{Rebuildable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := rdbmigration.Up(t.Context(), db, rdbmigration.ReadModel()); err != nil {
		t.Fatal(err)
	}
	store, err := projectionstore.New(db)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{Store: store, db: db}
}

func (f *fixture) Refuse(t *testing.T, text string) {
	t.Helper()
	statements := []string{"DROP TRIGGER IF EXISTS refuse"}
	if text != "" {
		body := map[string]string{
			"mysql":  "IF NEW.text = '" + text + "' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF",
			"sqlite": "WHEN NEW.text = '" + text + "' BEGIN SELECT RAISE(ABORT, 'refused'); END",
		}[f.db.DriverName()]
		statements = append(statements, "CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW "+body)
	}
	for _, statement := range statements {
		if _, err := f.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", strings.SplitN(statement, " ON ", 2)[0], err)
		}
	}
}
