package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// ErrNoDocker means that there is no Docker daemon to run containers.
var ErrNoDocker = errors.New("docker is not installed, or its daemon does not answer")

// Docker returns the path of the docker command when its daemon answers.
func Docker(ctx context.Context) (string, error) {
	path, err := exec.LookPath("docker")
	if err != nil {
		return "", ErrNoDocker
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := exec.CommandContext(ctx, path, "info", "--format", "{{.ServerVersion}}").Run(); err != nil {
		return "", ErrNoDocker
	}
	return path, nil
}

// Container is a service that runs in a container of its own, named after the service and the folder
// of its data. A docker client that is killed leaves its container behind; by its name the next run
// finds and replaces it.
type Container struct {
	Docker  string // path of the docker command
	Service string
	Folder  string
}

func (c Container) name() string {
	return fmt.Sprintf("threads-%s-%.12x", c.Service, sha256.Sum256([]byte(c.Folder)))
}

// Run is the command line that runs the container in the foreground; args are the options, the image
// and its arguments.
func (c Container) Run(args ...string) []string {
	return append([]string{c.Docker, "run", "--rm", "--name", c.name()}, args...)
}

// Clear removes a container of an earlier run, running or not, and creates the folder.
func (c Container) Clear(ctx context.Context) error {
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, c.Docker, "rm", "--force", c.name()).CombinedOutput()
	if err != nil && !bytes.Contains(output, []byte("No such container")) {
		return fmt.Errorf("remove the container %s: %w: %s", c.name(), err, output)
	}
	return nil
}
