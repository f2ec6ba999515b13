package services

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

var errNoDocker = errors.New("docker is not installed, or its daemon does not answer")

// container returns the command line that runs a service in a container in the foreground; args are the options, the
// image and its arguments. The container's name consists of the service and its data folder. A killed docker client
// leaves its container behind, and the next run finds and removes it by its name.
func container(ctx context.Context, service, folder string, args ...string) ([]string, error) {
	docker, err := findDocker(ctx)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("threads-%s-%.12x", service, sha256.Sum256([]byte(folder)))
	output, err := exec.CommandContext(ctx, docker, "rm", "--force", name).CombinedOutput()
	if err != nil && !bytes.Contains(output, []byte("No such container")) {
		return nil, fmt.Errorf("remove the container %s: %w: %s", name, err, output)
	}
	return append([]string{docker, "run", "--rm", "--name", name}, args...), nil
}

// findDocker returns the path of the docker command if its daemon answers.
func findDocker(ctx context.Context) (string, error) {
	path, err := exec.LookPath("docker")
	if err != nil {
		return "", errNoDocker
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := exec.CommandContext(ctx, path, "info", "--format", "{{.ServerVersion}}").Run(); err != nil {
		return "", errNoDocker
	}
	return path, nil
}
