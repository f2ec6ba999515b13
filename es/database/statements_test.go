package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"example.com/threads/es/database"
)

// oneConnection returns a connection to a new SQLite file with a table of the numbers 1 to 3.
func oneConnection(t *testing.T) *sqlx.Conn {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), db.Close() })
	exec(t, conn, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
	exec(t, conn, "INSERT INTO numbers VALUES (?), (?), (?)", 1, 2, 3)
	return conn
}

func exec(t *testing.T, conn *sqlx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func numbers(t *testing.T, conn *sqlx.Conn, statement string, args ...any) (found []int) {
	t.Helper()
	if err := conn.SelectContext(t.Context(), &found, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return found
}

// while calls do after the first row of a statement was read, and returns the other rows.
func while(t *testing.T, conn *sqlx.Conn, statement string, do func()) (others []int) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), statement, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	rows.Next()
	do()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		others = append(others, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return others
}

func expectNumbers(t *testing.T, about string, got []int, want ...int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", about, got, want)
	}
}

func kept(t *testing.T, conn *sqlx.Conn) (count int) {
	t.Helper()
	if err := conn.Raw(func(raw any) error { count = database.Kept(raw); return nil }); err != nil {
		t.Fatal(err)
	}
	return count
}

// preparedAgain returns how often SQLite has prepared a statement again by itself.
func preparedAgain(t *testing.T, conn *sqlx.Conn, statement string) (times int) {
	t.Helper()
	err := conn.Raw(func(raw any) error {
		for made := range raw.(sqlite.Conn).Raw().Stmts() {
			if made.SQL() == statement {
				times += made.Status(sqlite3.STMTSTATUS_REPREPARE, false)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

const behind = "SELECT n FROM numbers WHERE n > ? ORDER BY n"

func TestStatementsArePreparedOnce(t *testing.T) {
	conn := oneConnection(t)
	before := kept(t, conn)
	for n := range 3 {
		expectNumbers(t, "each time with its own argument", numbers(t, conn, behind, n), []int{1, 2, 3}[n:]...)
	}
	if made := kept(t, conn) - before; made != 1 {
		t.Errorf("%d statements are cached, want 1", made)
	}
	if err := conn.SelectContext(t.Context(), new([]int), behind); err == nil {
		t.Error("an argument of an earlier use is still in memory")
	}
}

func TestAnotherValueIsNoReasonToPrepareAgain(t *testing.T) {
	conn := oneConnection(t)
	const some = "SELECT n FROM numbers ORDER BY n LIMIT ?"
	for n := range 3 {
		expectNumbers(t, "as many as the limit", numbers(t, conn, some, n), []int{1, 2, 3}[:n]...)
	}
	if again := preparedAgain(t, conn, some); again != 0 {
		t.Errorf("SQLite has prepared it %d times more", again)
	}
}

func TestATransactionThatReadsIsNoReasonToPrepareAgain(t *testing.T) {
	conn := oneConnection(t)
	for range 3 {
		tx, err := conn.BeginTxx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		expectNumbers(t, "in a transaction", numbers(t, conn, behind, 1), 2, 3)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if again := preparedAgain(t, conn, behind); again != 0 {
		t.Errorf("SQLite has prepared it %d times more", again)
	}
}

func TestAStatementWhoseRowsAreBeingRead(t *testing.T) {
	conn := oneConnection(t)
	others := while(t, conn, behind, func() {
		expectNumbers(t, "the same statement meanwhile", numbers(t, conn, behind, 1), 2, 3)
	})
	expectNumbers(t, "the rows that were being read", others, 2, 3)
	expectNumbers(t, "the same statement afterwards", numbers(t, conn, behind, 2), 3)
}

func TestNoMoreStatementsAreKeptThanTheBound(t *testing.T) {
	conn := oneConnection(t)
	others := while(t, conn, behind, func() {
		for n := range database.KeptStatements + 10 {
			expectNumbers(t, "one of many statements", numbers(t, conn, fmt.Sprintf("SELECT %d", n)), n)
		}
	})
	expectNumbers(t, "rows of an evicted statement", others, 2, 3)
	if count := kept(t, conn); count != database.KeptStatements {
		t.Errorf("%d statements are cached, want %d", count, database.KeptStatements)
	}
	expectNumbers(t, "a statement that comes back", numbers(t, conn, behind, 2), 3)
}

func TestALongStatementIsNotKept(t *testing.T) {
	conn := oneConnection(t)
	before := kept(t, conn)
	list := "(" + strings.Repeat("9, ", 6000) + "3)"
	expectNumbers(t, "a long query", numbers(t, conn, "SELECT n FROM numbers WHERE n IN "+list), 3)
	exec(t, conn, "DELETE FROM numbers WHERE n IN "+list)
	if count := kept(t, conn); count != before {
		t.Errorf("%d statements are cached instead of %d", count, before)
	}
	expectNumbers(t, "what is left", numbers(t, conn, behind, 0), 1, 2)
}

func TestNoMoreTextIsKeptThanTheBound(t *testing.T) {
	conn := oneConnection(t)
	const length = 10 << 10
	for n := range 2 * database.KeptTexts / length {
		expectNumbers(t, "one of many long statements", numbers(t, conn, fmt.Sprintf("SELECT %-*d", length, n)), n)
	}
	if count := kept(t, conn); count == 0 || count > database.KeptTexts/length {
		t.Errorf("%d statements of %d bytes are cached", count, length)
	}
}

func TestAKeptStatementAfterAFailure(t *testing.T) {
	conn := oneConnection(t)
	const add = "INSERT INTO numbers VALUES (?)"
	if _, err := conn.ExecContext(t.Context(), add, 1); err == nil {
		t.Fatal("a duplicate number was inserted")
	}
	exec(t, conn, add, 4)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conn.ExecContext(ended, add, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	exec(t, conn, add, 6)
	expectNumbers(t, "all", numbers(t, conn, behind, 0), 1, 2, 3, 4, 6)
	if _, err := conn.ExecContext(t.Context(), "NONSENSE"); err == nil {
		t.Error("an invalid statement was accepted")
	}
}

func TestAKeptStatementSeesTheTableAsItIs(t *testing.T) {
	conn := oneConnection(t)
	const one = "SELECT n FROM numbers LIMIT 1"
	expectNumbers(t, "before the table is another one", numbers(t, conn, one), 1)
	exec(t, conn, "ALTER TABLE numbers RENAME TO others")
	exec(t, conn, "CREATE TABLE numbers AS SELECT 'a number' AS word, 7 AS n")
	expectNumbers(t, "afterwards", numbers(t, conn, one), 7)
}
