package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver that the program uses
)

// eventSize is about the size of a short message's event in bytes.
const eventSize = 500

// rawRows inserts rows into a table, one transaction after the other, each durable when it ends: the maximum for a
// program on SQLite that does not combine commands.
type rawRows struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openRaw(ctx context.Context, folder string) (*rawRows, error) {
	dsn := "file:" + url.PathEscape(filepath.Join(folder, "yardstick.db")) + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	r := &rawRows{db: db}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, data TEXT NOT NULL)`)
	if err == nil {
		r.insert, err = db.PrepareContext(ctx, `INSERT INTO rows (data) VALUES (?)`)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

func (r *rawRows) close() { _ = errors.Join(r.insert.Close(), r.db.Close()) }

func (r *rawRows) insertOne(ctx context.Context, _ int) error {
	_, err := r.insert.ExecContext(ctx, rawData)
	return err
}

var rawData = strings.Repeat("x", eventSize)
