package mysqlserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
)

// Name is the service's name in messages, log and pid files.
const Name = "mysql"

// User, Password and Database exist in every instance; the user may do everything.
const (
	User     = "threads"
	Password = "threads"
	Database = "threads"
)

const image = "mysql:8.4"

// Server is a MySQL or MariaDB that can be started on this machine: a program or an image.
type Server struct {
	daemon  string
	mariadb bool
	docker  string
}

// Obtain finds a server, or installs MariaDB, or settles for Docker, in this order; preferDocker
// skips the first two. The error says what to install.
func Obtain(ctx context.Context, progress install.Progress, preferDocker bool) (*Server, error) {
	var native error
	if !preferDocker {
		server, err := find(ctx)
		if err != nil {
			if err = errors.Join(err, install.Debian(ctx, progress, "mariadb-server")); !errors.Is(err, install.ErrNotDebianRoot) {
				server, err = find(ctx)
			}
		}
		if err == nil {
			return server, nil
		}
		native = err
	}
	docker, err := install.Docker(ctx)
	if err != nil {
		return nil, fmt.Errorf("no MySQL or MariaDB server: %w; install mariadb-server or mysql-server, or start Docker",
			errors.Join(native, err))
	}
	return &Server{docker: docker}, nil
}

// find looks where packages put servers; Debian's folder is in root's PATH only.
func find(ctx context.Context) (*Server, error) {
	for _, name := range []string{"mariadbd", "mysqld"} {
		for _, folder := range []string{"", "/usr/sbin/", "/usr/libexec/", "/usr/local/sbin/", "/opt/homebrew/bin/"} {
			if path, err := exec.LookPath(folder + name); err == nil {
				return &Server{daemon: path, mariadb: isMariaDB(ctx, path)}, nil
			}
		}
	}
	return nil, errors.New("neither mariadbd nor mysqld is installed")
}

func isMariaDB(ctx context.Context, daemon string) bool {
	version, err := exec.CommandContext(ctx, daemon, "--no-defaults", "--version").Output()
	return err == nil && strings.Contains(string(version), "MariaDB")
}

// DSN is the go-sql-driver data source name of a database on this port; "" selects none.
func DSN(port int, database string) string {
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?parseTime=true", User, Password, port, database)
}

// Program is the server on a port with its data in folder, an absolute path. Durable, an acknowledged
// transaction survives a power cut; otherwise it is quick, for data that is thrown away.
func (s *Server) Program(port int, folder string, durable bool) launch.Program {
	if s.docker != "" {
		return s.container(port, folder, durable)
	}
	layout := layoutOf(folder)
	argv := append([]string{
		s.daemon, "--no-defaults",
		"--datadir=" + layout.data, "--socket=" + layout.socket, "--pid-file=" + layout.pidFile, "--tmpdir=" + layout.temp,
		"--init-file=" + layout.initFile,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--loose-mysqlx=OFF",
	}, asUser(folder)...)
	return launch.Program{
		Name: Name, Mark: folder, Ready: Ready(port),
		Argv:   append(argv, settings(durable)...),
		Before: func(ctx context.Context) error { return s.prepare(ctx, layout) },
	}
}

func settings(durable bool) []string {
	args := []string{
		"--character-set-server=utf8mb4", "--skip-name-resolve", "--skip-log-bin",
		"--max-connections=500", "--innodb-buffer-pool-size=256M",
	}
	if !durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	return args
}
