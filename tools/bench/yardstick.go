package main

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver that the program uses
)

// eventSize is about that of a short message's event, in bytes.
const eventSize = 500

// yardstick counts transactions of one row a second, one after the other, each on disk when it is done: what a program
// that does nothing but SQLite could at best acknowledge without putting commands together.
func yardstick(ctx context.Context, folder string, duration time.Duration) (float64, error) {
	dsn := "file:" + url.PathEscape(filepath.Join(folder, "yardstick.db")) + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, data TEXT NOT NULL)`); err != nil {
		return 0, err
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO rows (data) VALUES (?)`)
	if err != nil {
		return 0, err
	}
	defer func() { _ = insert.Close() }()

	data := strings.Repeat("x", eventSize)
	count, begun := 0, time.Now()
	for time.Since(begun) < duration {
		if _, err := insert.ExecContext(ctx, data); err != nil {
			return 0, err
		}
		count++
	}
	return float64(count) / time.Since(begun).Seconds(), nil
}

// syncs counts appends of a page to a file a second, each followed by an fsync: what a wait for this disk costs,
// without SQLite. The dearer it is, the more there is to gain by putting commands together.
func syncs(ctx context.Context, folder string, duration time.Duration) (float64, error) {
	file, err := os.Create(filepath.Join(folder, "syncs"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	page := make([]byte, 4096)
	count, begun := 0, time.Now()
	for ; time.Since(begun) < duration && ctx.Err() == nil; count++ {
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(count) / time.Since(begun).Seconds(), ctx.Err()
}
