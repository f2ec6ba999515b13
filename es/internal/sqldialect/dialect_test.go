package sqldialect_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/internal/sqldialect"
)

// onEach runs test on a database of every kind, with an empty table pairs(a, b, words).
func onEach(t *testing.T, test func(t *testing.T, db *sqlx.DB, dialect sqldialect.Dialect)) {
	for kind, open := range map[string]func(t *testing.T) string{
		"mysql": func(t *testing.T) string { return testenv.MySQL(t) },
		"sqlite": func(t *testing.T) string {
			return "file:" + url.PathEscape(filepath.Join(t.TempDir(), "pairs.db")) + "?_pragma=busy_timeout(50)"
		},
	} {
		t.Run(kind, func(t *testing.T) {
			db, err := database.Open(t.Context(), open(t), database.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			execute(t, db, "CREATE TABLE pairs (a INTEGER NOT NULL, b INTEGER NOT NULL, words VARCHAR(5) NOT NULL CHECK (words <> 'worst'), PRIMARY KEY (a, b))")
			dialect, err := sqldialect.Of(db)
			if err != nil {
				t.Fatal(err)
			}
			test(t, db, dialect)
		})
	}
}

func execute(t *testing.T, db sqlx.ExecerContext, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestInsertAndUpsert(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB, dialect sqldialect.Dialect) {
		columns, key := []string{"a", "b", "words"}, []string{"a", "b"}
		execute(t, db, dialect.Insert("pairs", columns, 2), 1, 1, "one", 1, 2, "two")
		execute(t, db, dialect.Upsert("pairs", key, columns, 3), 1, 2, "new", 1, 3, "three", 2, 1, "four")
		var got []string
		if err := db.SelectContext(t.Context(), &got, "SELECT words FROM pairs ORDER BY a, b"); err != nil || fmt.Sprint(got) != "[one new three four]" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestUpsertWithoutOtherColumnsThanTheKey(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB, dialect sqldialect.Dialect) {
		execute(t, db, "CREATE TABLE couples (a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b))")
		columns := []string{"a", "b"}
		execute(t, db, dialect.Insert("couples", columns, 1), 1, 1)
		execute(t, db, dialect.Upsert("couples", columns, columns, 2), 1, 1, 1, 2)
		var got []int
		if err := db.SelectContext(t.Context(), &got, "SELECT b FROM couples ORDER BY a, b"); err != nil || fmt.Sprint(got) != "[1 2]" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestClassesOfWhatDatabasesSay(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB, _ sqldialect.Dialect) {
		execute(t, db, "INSERT INTO pairs VALUES (1, 1, 'one')")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for statement, want := range map[string]sqldialect.Class{
			"INSERT INTO pairs VALUES (1, 1, 'again')": sqldialect.Duplicate,
			"INSERT INTO pairs VALUES (2, 1, NULL)":    sqldialect.Refused,
			"INSERT INTO pairs VALUES (2, 1, 'worst')": sqldialect.Refused,
			"INSERT INTO nowhere VALUES (1)":           sqldialect.Fault,
			"NONSENSE":                                 sqldialect.Fault,
			"UPDATE pairs SET missing = 1 WHERE a = 1": sqldialect.Lacking,
			"INSERT INTO pairs (missing) VALUES (1)":   sqldialect.Lacking,
		} {
			_, err := db.ExecContext(t.Context(), statement)
			expectClass(t, statement, err, want)
		}
		_, err := db.ExecContext(ended, "SELECT 1")
		expectClass(t, "a context that has ended", err, sqldialect.Ended)
		expectClass(t, "a wrapped network error", fmt.Errorf("deep: %w", &net.OpError{Op: "read", Err: errors.New("reset")}), sqldialect.Transient)
		expectClass(t, "anything else", errors.New("anything"), sqldialect.Fault)
	})
}

// Errors that a test can't provoke on a server.
func TestClassesOfMySQLErrors(t *testing.T) {
	for _, test := range []struct {
		number uint16
		state  string
		want   sqldialect.Class
	}{
		{1020, "HY000", sqldialect.Transient}, // record has changed since last read
		{1040, "08004", sqldialect.Transient}, // too many connections
		{1053, "08S01", sqldialect.Transient}, // server shutdown in progress
		{1159, "08S01", sqldialect.Transient}, // a state for connections, with any number
		{1317, "70100", sqldialect.Transient}, // query interrupted
		{1927, "70100", sqldialect.Transient}, // connection was killed
		{1969, "70100", sqldialect.Transient}, // max_statement_time exceeded
		{3024, "HY000", sqldialect.Transient}, // max_execution_time exceeded
		{4031, "HY000", sqldialect.Transient}, // wait_timeout exceeded
		{1021, "HY000", sqldialect.Full},      // disk full
		{1114, "HY000", sqldialect.Full},      // table full
		{1034, "HY000", sqldialect.Damaged},   // broken index
		{1712, "HY000", sqldialect.Damaged},   // broken index of InnoDB
		{1406, "22001", sqldialect.Refused},   // data too long
		{1366, "HY000", sqldialect.Refused},   // incorrect string value
		{1142, "42000", sqldialect.Fault},     // command denied
		{2000, "", sqldialect.Fault},          // no state
	} {
		said := &mysql.MySQLError{Number: test.number, Message: "as the server words it"}
		copy(said.SQLState[:], test.state)
		expectClass(t, "an answer of the server", fmt.Errorf("deep: %w", said), test.want)
	}
	// Several numbers carry the system's error 28 in their message.
	expectClass(t, "no space left", &mysql.MySQLError{Number: 1030, Message: `Got error 28 "No space left on device" from storage engine InnoDB`}, sqldialect.Full)
}

func expectClass(t *testing.T, what string, err error, want sqldialect.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("%s succeeded", what)
		return
	}
	if got := sqldialect.ClassOf(err); got != want {
		t.Errorf("%s: %v is of class %d instead of %d", what, err, got, want)
	}
}

// A lock that another transaction holds for longer than the lock timeout.
func TestLockIsTransient(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB, dialect sqldialect.Dialect) {
		execute(t, db, "INSERT INTO pairs VALUES (1, 1, 'one')")
		holder, err := db.BeginTxx(t.Context(), dialect.Writing())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = holder.Rollback() }()
		execute(t, holder, "UPDATE pairs SET words = 'mine' WHERE a = 1")

		conn, err := db.Connx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if db.DriverName() == database.MySQL {
			execute(t, conn, "SET SESSION innodb_lock_wait_timeout = 1")
		}
		waiter, err := conn.BeginTxx(t.Context(), dialect.Writing())
		if err == nil {
			defer func() { _ = waiter.Rollback() }()
			_, err = waiter.ExecContext(t.Context(), "SELECT words FROM pairs WHERE a = 1 AND b = 1"+dialect.ForUpdate())
		}
		expectClass(t, "a lock that is held", err, sqldialect.Transient)
	})
}

func TestDeadlockAndLostConnectionAreTransient(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB, dialect sqldialect.Dialect) {
		if db.DriverName() != database.MySQL {
			return // the process runs one transaction at a time
		}
		execute(t, db, "INSERT INTO pairs VALUES (1, 1, 'one'), (2, 2, 'two')")
		one, err := db.BeginTxx(t.Context(), dialect.Writing())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = one.Rollback() }()
		two, err := db.BeginTxx(t.Context(), dialect.Writing())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = two.Rollback() }()
		execute(t, one, "UPDATE pairs SET words = 'mine' WHERE a = 1 AND b = 1")
		execute(t, two, "UPDATE pairs SET words = 'mine' WHERE a = 2 AND b = 2")
		crossed := make(chan error, 1)
		go func() {
			_, err := one.ExecContext(t.Context(), "UPDATE pairs SET words = 'mine' WHERE a = 2 AND b = 2")
			crossed <- err
		}()
		_, err = two.ExecContext(t.Context(), "UPDATE pairs SET words = 'mine' WHERE a = 1 AND b = 1")
		if err == nil {
			_ = two.Commit()
			err = <-crossed
		}
		expectClass(t, "a deadlock", err, sqldialect.Transient)

		conn, err := db.Connx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		var id int
		if err := conn.GetContext(t.Context(), &id, "SELECT CONNECTION_ID()"); err != nil {
			t.Fatal(err)
		}
		execute(t, db, fmt.Sprint("KILL ", id))
		_, err = conn.ExecContext(t.Context(), "INSERT INTO pairs VALUES (3, 3, 'three')")
		expectClass(t, "a lost connection", err, sqldialect.Transient)
	})
}

func TestOtherDriversHaveNoDialect(t *testing.T) {
	if _, err := sqldialect.Of(sqlx.NewDb(nil, "postgres")); err == nil {
		t.Error("postgres has a dialect")
	}
}
