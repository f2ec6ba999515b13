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

// The database files in DATA_DIR.
const (
	eventsFile    = "events.db"
	readModelFile = "readmodel.db"
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

// lock makes the folder, and keeps other standalone programs away from the database files until release is called. The
// system releases the locks of a process that dies. Each lock is a file beside the database file itself, so it also
// holds when the folder or the file is reached by a symbolic link. Programs that only use the files, such as threadctl,
// do not take it.
func (s settings) lock() (release func() error, err error) {
	const advice = "make it writable for this user, or set DATA_DIR to another folder"
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, fmt.Errorf("the folder for the data can't be made; %s: %w", advice, err)
	}
	var held []*flock.Flock
	release = func() (err error) {
		for _, lock := range held {
			err = errors.Join(err, lock.Close())
		}
		return err
	}
	for _, name := range []string{eventsFile, readModelFile} {
		path, err := makeFile(filepath.Join(s.folder, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the file %s in the folder %s can't be used; %s: %w", name, s.folder, advice, err), release())
		}
		lock := flock.New(path + ".lock")
		got, err := lock.TryLock()
		switch {
		case err != nil:
			return nil, errors.Join(fmt.Errorf("the file %s can't be locked; %s: %w", lock.Path(), advice, err), release())
		case !got:
			return nil, errors.Join(fmt.Errorf("another running standalone program uses the data in %s (it holds %s): stop that program, "+
				"or set DATA_DIR to another folder", s.folder, lock.Path()), release())
		}
		held = append(held, lock)
	}
	return release, nil
}

// makeFile creates a missing file, where symbolic links lead, and returns its path without them.
func makeFile(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
