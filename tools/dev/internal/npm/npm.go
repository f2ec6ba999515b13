// Package npm installs the packages that the page is made of and checked with.
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ErrMissing means that this machine has no npm.
var ErrMissing = errors.New("it needs Node 18 or newer, with npm")

// Install installs the packages of the lock file in a folder, unless they are installed. Others who install there wait.
func Install(ctx context.Context, folder string) error {
	locked, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = locked.Close() }() // ends the lock
	if err := syscall.Flock(int(locked.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("wait for another installation in %s: %w", folder, err)
	}
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	digest := sha256.Sum256(lock)
	installed, stamp := filepath.Join(folder, "node_modules", ".installed"), hex.EncodeToString(digest[:])
	if last, err := os.ReadFile(installed); err == nil && string(last) == stamp {
		return nil
	}
	path, err := exec.LookPath("npm")
	if err != nil {
		return ErrMissing
	}
	install := exec.CommandContext(ctx, path, "ci")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", folder, err, output)
	}
	return os.WriteFile(installed, []byte(stamp), 0o600)
}
