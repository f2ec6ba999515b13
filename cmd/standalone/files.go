package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/migration"
)

// The files in DATA_DIR: two databases, and one that the running program locks.
const (
	eventsFile    = "events.db"
	readModelFile = "readmodel.db"
	lockFile      = "standalone.lock"
)

func (s settings) url(name string) string { return "sqlite:" + filepath.Join(s.folder, name) }

// migrated opens a file of the folder, creates it if missing, and migrates it to this program's schemas.
func (s settings) migrated(ctx context.Context, name string, options database.Settings, sets ...migration.Set) (*sqlx.DB, error) {
	db, err := database.Open(ctx, s.url(name), options)
	if err != nil {
		return nil, err
	}
	if _, err := migration.Up(ctx, db, sets...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// lock makes the folder, and keeps other standalone programs away until release is called or this process dies.
func (s settings) lock() (release func() error, err error) {
	const advice = "make it writable for this user, or set DATA_DIR to another folder"
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, fmt.Errorf("the folder for the data can't be made; %s: %w", advice, err)
	}
	lock := flock.New(filepath.Join(s.folder, lockFile))
	got, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the file %s can't be locked; %s: %w", lock.Path(), advice, err)
	case !got:
		return nil, fmt.Errorf("another running standalone program uses the data in %s (it holds %s): stop that program, "+
			"or set DATA_DIR to another folder", s.folder, lock.Path())
	}
	return lock.Close, nil
}
