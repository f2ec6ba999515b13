package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

const minJava = 17

// Debian and Ubuntu have one of these, depending on the release.
var javaPackages = []string{"openjdk-17-jre-headless", "openjdk-21-jre-headless"}

// findJava returns a Java of a sufficient version, from JAVA_HOME or PATH, or installs one.
func findJava(ctx context.Context, progress launch.Progress) (string, error) {
	java, err := presentJava(ctx)
	if err == nil {
		return java, nil
	}
	for _, name := range javaPackages {
		failed := installDebian(ctx, progress, name)
		if failed == nil {
			return presentJava(ctx)
		}
		err = errors.Join(err, failed)
		if ctx.Err() != nil || errors.Is(failed, errNotDebianRoot) {
			break
		}
	}
	return "", err
}

func presentJava(ctx context.Context) (string, error) {
	candidates := []string{"java"}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append([]string{filepath.Join(home, "bin", "java")}, candidates...)
	}
	var reasons error
	for _, candidate := range candidates {
		path, err := exec.LookPath(candidate)
		if err == nil {
			err = checkJava(ctx, path)
		}
		if err == nil {
			return path, nil
		}
		reasons = errors.Join(reasons, err)
	}
	return "", reasons
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

func checkJava(ctx context.Context, path string) error {
	output, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s -version: %w", path, err)
	}
	match := javaVersion.FindSubmatch(output)
	if match == nil {
		return fmt.Errorf("%s -version does not name a version", path)
	}
	if version, err := strconv.Atoi(string(match[1])); err != nil || version < minJava {
		return fmt.Errorf("%s is Java %s, and DynamoDB Local needs %d", path, match[1], minJava)
	}
	return nil
}
