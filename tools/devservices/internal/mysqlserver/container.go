package mysqlserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
)

// container is the server in the official image, which runs the mounted statements when it creates
// its system tables.
func (s *Server) container(port int, folder string, durable bool) launch.Program {
	container := install.Container{Docker: s.docker, Service: Name, Folder: folder}
	initFile := layoutOf(folder).initFile
	argv := container.Run(
		"--env", "MYSQL_RANDOM_ROOT_PASSWORD=yes",
		"--publish", fmt.Sprintf("127.0.0.1:%d:3306", port),
		"--volume", filepath.Join(folder, "data")+":/var/lib/mysql",
		"--volume", initFile+":/docker-entrypoint-initdb.d/threads.sql:ro",
		image)
	return launch.Program{
		Name: Name, Mark: folder, Ready: Ready(port),
		Argv: append(argv, settings(durable)...),
		Before: func(ctx context.Context) error {
			if err := container.Clear(ctx); err != nil {
				return err
			}
			return os.WriteFile(initFile, []byte(initSQL), 0o644)
		},
	}
}
