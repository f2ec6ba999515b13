package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const lockInterval = 100 * time.Millisecond

// Lock waits until no other process holds the lock of this file, and takes it. unlock or the end of this process
// releases it.
func Lock(ctx context.Context, path string, progress Progress) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("folder of a lock: %w", err)
	}
	lock := flock.New(path, flock.SetPermissions(0o644))
	got, err := lock.TryLock()
	if err == nil && !got {
		progress("waiting for another run that holds %s", path)
		_, err = lock.TryLockContext(ctx, lockInterval)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil
}
