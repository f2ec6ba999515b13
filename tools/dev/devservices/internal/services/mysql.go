package services

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // registers the driver "mysql"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

const mySQLImage = "mysql:8.4"

// initSQL runs at every start, one statement per line; in a container only when it creates its system tables.
const initSQL = "CREATE USER IF NOT EXISTS '" + User + "'@'%' IDENTIFIED BY '" + Password + "';\n" +
	"GRANT ALL ON *.* TO '" + User + "'@'%';\n" +
	"CREATE DATABASE IF NOT EXISTS " + Database + " CHARACTER SET utf8mb4;\n"

// MySQL returns MySQL or MariaDB as a program with its own data folder, socket and port. It is bound to 127.0.0.1 and
// reads none of the machine's configuration.
func MySQL(at Instance, progress launch.Progress) launch.Program {
	return launch.Program{
		Name: MySQLName, Mark: at.Folder, Port: at.Port,
		Ready: func(ctx context.Context) error { return logIn(ctx, at.Port) },
		Prepare: func(ctx context.Context) ([]string, error) {
			files := filesIn(at.Folder)
			if err := files.create(); err != nil {
				return nil, fmt.Errorf("files of %s: %w", MySQLName, err)
			}
			daemon, native := findDaemon(ctx, progress)
			if native == nil {
				return at.mySQL(ctx, daemon, files)
			}
			argv, err := container(ctx, MySQLName, at.Folder, append([]string{
				"--env", "MYSQL_RANDOM_ROOT_PASSWORD=yes",
				"--publish", fmt.Sprintf("127.0.0.1:%d:3306", at.Port),
				"--volume", files.data + ":/var/lib/mysql",
				"--volume", files.initFile + ":/docker-entrypoint-initdb.d/threads.sql:ro",
				mySQLImage,
			}, at.settings()...)...)
			if err != nil {
				return nil, fmt.Errorf("no MySQL or MariaDB server: %w; %w; install mariadb-server or mysql-server, or start Docker",
					native, err)
			}
			return argv, nil
		},
	}
}

// findDaemon returns the server's program, or installs MariaDB.
func findDaemon(ctx context.Context, progress launch.Progress) (string, error) {
	daemon, err := presentDaemon()
	if err == nil {
		return daemon, nil
	}
	if failed := installDebian(ctx, progress, "mariadb-server"); failed != nil {
		return "", errors.Join(err, failed)
	}
	return presentDaemon()
}

// presentDaemon searches the folders that packages install servers in; Debian's is only in root's PATH.
func presentDaemon() (string, error) {
	for _, name := range []string{"mariadbd", "mysqld"} {
		for _, folder := range []string{"", "/usr/sbin/", "/usr/libexec/", "/usr/local/sbin/", "/opt/homebrew/bin/"} {
			if path, err := exec.LookPath(folder + name); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("neither mariadbd nor mysqld is installed")
}

// mySQL returns the command line without Docker. If there are no system tables, it creates them first, in a temporary
// folder, so that an interrupted attempt does not look like a database.
func (at Instance) mySQL(ctx context.Context, daemon string, files mySQLFiles) ([]string, error) {
	account, err := files.handOver()
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", MySQLName, err)
	}
	if _, err := os.Stat(files.data); errors.Is(err, os.ErrNotExist) {
		if err := createSystemTables(ctx, daemon, files, account); err != nil {
			return nil, fmt.Errorf("create the system tables of %s: %w", MySQLName, err)
		}
	}
	argv := append([]string{
		daemon, "--no-defaults",
		"--datadir=" + files.data, "--socket=" + files.socket, "--pid-file=" + files.pidFile, "--tmpdir=" + files.temp,
		"--init-file=" + files.initFile,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(at.Port), "--loose-mysqlx=OFF",
	}, account...)
	return append(argv, at.settings()...), nil
}

func createSystemTables(ctx context.Context, daemon string, files mySQLFiles, account []string) error {
	unfinished := files.data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	argv := []string{daemon, "--no-defaults", "--initialize-insecure"}
	if version, err := exec.CommandContext(ctx, daemon, "--no-defaults", "--version").Output(); err != nil {
		return fmt.Errorf("%s --version: %w", daemon, err)
	} else if strings.Contains(string(version), "MariaDB") {
		// --force, because this machine's name may not be resolvable
		argv = []string{mariaDBScript(daemon), "--no-defaults", "--force", "--skip-test-db", "--skip-name-resolve"}
	}
	argv = append(append(argv, "--datadir="+unfinished), account...)
	if output, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return os.Rename(unfinished, files.data)
}

func mariaDBScript(daemon string) string {
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return filepath.Join(filepath.Dir(daemon), "mariadb-install-db")
}

func (at Instance) settings() []string {
	args := []string{
		"--character-set-server=utf8mb4", "--skip-name-resolve", "--skip-log-bin",
		"--max-connections=500", "--innodb-buffer-pool-size=256M",
	}
	if !at.Durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	return args
}

// logIn also selects the database, because the server may accept connections before its first statements have run.
func logIn(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	db, err := sql.Open("mysql", DSN(port, Database))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.PingContext(ctx)
}
