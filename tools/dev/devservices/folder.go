package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	folderPattern = "threads-test-*"
	lockFile      = "run.lock"
	// A younger folder may belong to a run that has not locked it yet.
	leftoverAge = time.Minute
)

// newFolder creates the folder of a run, and removes the folders of killed runs: a run locks its folder while it lives.
func newFolder() (folder string, remove func() error, err error) {
	if err := removeLeftovers(os.TempDir()); err != nil {
		return "", nil, err
	}
	folder, err = os.MkdirTemp("", folderPattern)
	if err != nil {
		return "", nil, fmt.Errorf("folder for the services: %w", err)
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the database's account needs access
		return "", nil, fmt.Errorf("folder for the services: %w", err)
	}
	lock := flock.New(filepath.Join(folder, lockFile))
	if err := lock.Lock(); err != nil {
		return "", nil, fmt.Errorf("lock the folder for the services: %w", err)
	}
	return folder, func() error { return errors.Join(os.RemoveAll(folder), lock.Close()) }, nil
}

func removeLeftovers(parent string) error {
	folders, err := filepath.Glob(filepath.Join(parent, folderPattern))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < leftoverAge {
			continue
		}
		lock := flock.New(filepath.Join(folder, lockFile))
		free, err := lock.TryLock()
		if err == nil && free {
			err = os.RemoveAll(folder)
		}
		err = errors.Join(err, lock.Close())
		// It may be another user's folder, or another run removes it.
		if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove what a killed run left: %w", err)
		}
	}
	return nil
}
