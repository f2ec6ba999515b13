package main

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver that the program uses
)

// eventSize is about the size of a short message's event in bytes.
const eventSize = 500

// rawSQLite returns the transactions of one row per second, one after the other, each durable when it ends: the maximum
// for a program on SQLite that does not combine commands. cpu is the processor time of one transaction in milliseconds.
func rawSQLite(ctx context.Context, folder string, duration time.Duration) (perSecond, cpu float64, err error) {
	dsn := "file:" + url.PathEscape(filepath.Join(folder, "yardstick.db")) + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, data TEXT NOT NULL)`); err != nil {
		return 0, 0, err
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO rows (data) VALUES (?)`)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = insert.Close() }()

	data := strings.Repeat("x", eventSize)
	count, begun, cpuBefore := 0, time.Now(), ownCPU()
	for time.Since(begun) < duration {
		if _, err := insert.ExecContext(ctx, data); err != nil {
			return 0, 0, err
		}
		count++
	}
	cpu = millis(ownCPU()-cpuBefore) / float64(count)
	return float64(count) / time.Since(begun).Seconds(), cpu, nil
}

// ownCPU returns the processor time that this process has used.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
