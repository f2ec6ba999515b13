package testenv

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const adminTimeout = 30 * time.Second

// MySQL creates an empty utf8mb4 database for this test and returns its DSN, which parses times as UTC. The database is
// dropped when the test ends. The caller runs the migrations that it needs.
func MySQL(t testing.TB) string {
	t.Helper()
	config, err := mysql.ParseDSN(require(t, mysqlDSNVar, "MySQL or MariaDB"))
	if err != nil {
		t.Fatalf("%s is not a go-sql-driver DSN such as user:password@tcp(127.0.0.1:3306)/: %v", mysqlDSNVar, err)
	}
	config.ParseTime = true
	config.Loc = time.UTC

	name := UniqueName(t)
	administer(t, config, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	t.Cleanup(func() { administer(t, config, "DROP DATABASE "+name) })

	own := config.Clone()
	own.DBName = name
	return own.FormatDSN()
}

// administer runs one statement on its own connection, without a selected database. It must also work in a cleanup,
// when the test's context has ended.
func administer(t testing.TB, config *mysql.Config, statement string) {
	t.Helper()
	server := config.Clone()
	server.DBName = ""
	db, err := sql.Open("mysql", server.FormatDSN())
	if err != nil {
		t.Fatalf("open the server of %s: %v", mysqlDSNVar, err)
	}
	defer func() { _ = db.Close() }()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), adminTimeout)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		t.Fatalf("%s on the server of %s: %v", statement, mysqlDSNVar, err)
	}
}
