package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

var errNotDebianRoot = errors.New("only root on Debian or Ubuntu can install packages")

// aptGetRuns serializes calls of apt-get, because two can't fetch the package lists at the same time.
var aptGetRuns sync.Mutex

// installDebian installs the packages with apt-get, after fetching the package lists.
func installDebian(ctx context.Context, progress launch.Progress, packages ...string) error {
	if ctx.Err() != nil { // the search for the program was stopped, too, and may have missed it
		return context.Cause(ctx)
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return errNotDebianRoot
	}
	aptGetRuns.Lock()
	defer aptGetRuns.Unlock()
	progress("installing %v with apt-get", packages)
	wait := []string{"-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3", "-q"}
	if err := aptGet(ctx, append(wait, "update")...); err != nil {
		return err
	}
	return aptGet(ctx, append(append(wait, "install", "-y", "--no-install-recommends"), packages...)...)
}

// Compiler ensures that there is a C compiler, which Go's race detector needs.
func Compiler(ctx context.Context, progress launch.Progress) error {
	for _, name := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return installDebian(ctx, progress, "gcc", "libc6-dev")
}

// Browser ensures that there is Chromium, which the tests of the page need. // extra:page {
func Browser(ctx context.Context, progress launch.Progress) error {
	for _, name := range []string{"/usr/lib/chromium/chromium-headless-shell", "chromium"} {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return installDebian(ctx, progress, "chromium-headless-shell", "fonts-dejavu-core")
} // extra:page }

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
	}
	return nil
}
