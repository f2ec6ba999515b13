package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lock keeps other standalone programs away from the database files until release is called. The system releases the
// locks of a process that dies. Each lock is a file beside the database file itself, so it also holds when the folder
// or the file is reached by a symbolic link. Programs that only use the files, such as threadctl, do not take it.
func (s settings) lock() (release func() error, err error) {
	var held []*flock.Flock
	release = func() (err error) {
		for _, lock := range held {
			err = errors.Join(err, lock.Close())
		}
		return err
	}
	for _, name := range []string{eventsFile, readModelFile} {
		path, err := resolve(filepath.Join(s.folder, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the file %s in the folder %s can't be used: %w", name, s.folder, err), release())
		}
		lock := flock.New(path + ".lock")
		got, err := lock.TryLock()
		switch {
		case err != nil:
			return nil, errors.Join(fmt.Errorf("the file %s can't be locked: %w", lock.Path(), err), release())
		case !got:
			return nil, errors.Join(fmt.Errorf("another running standalone program uses the data in %s (it holds %s): stop that program, "+
				"or set DATA_DIR to another folder", s.folder, lock.Path()), release())
		}
		held = append(held, lock)
	}
	return release, nil
}

// resolve returns the path without symbolic links. A missing file is created, where the links lead.
func resolve(path string) (string, error) {
	found, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	if err := created.Close(); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
