package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrNotDebianRoot means that packages cannot be installed here.
var ErrNotDebianRoot = errors.New("only root on Debian or Ubuntu can install packages")

// Debian installs the packages with apt-get, after fetching the package lists. It waits for another
// apt-get that is at work.
func Debian(ctx context.Context, progress Progress, packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return ErrNotDebianRoot
	}
	progress("installing %v with apt-get", packages)
	wait := []string{"-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3", "-q"}
	if err := aptGet(ctx, append(wait, "update")...); err != nil {
		return err
	}
	return aptGet(ctx, append(append(wait, "install", "-y", "--no-install-recommends"), packages...)...)
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
	}
	return nil
}
