package mysqlserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// initSQL runs at every start, one statement a line.
const initSQL = "CREATE USER IF NOT EXISTS '" + User + "'@'%' IDENTIFIED BY '" + Password + "';\n" +
	"GRANT ALL ON *.* TO '" + User + "'@'%';\n" +
	"CREATE DATABASE IF NOT EXISTS " + Database + " CHARACTER SET utf8mb4;\n"

// prepare makes the folder ready for the server to start in, and creates the system tables once: in
// a folder beside, so that an attempt that was cut short is not taken for a database.
func (s *Server) prepare(ctx context.Context, l layout) error {
	folder := filepath.Dir(l.data)
	for _, path := range []string{folder, l.temp} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("folder for %s: %w", Name, err)
		}
	}
	if err := os.WriteFile(l.initFile, []byte(initSQL), 0o644); err != nil {
		return fmt.Errorf("first statements for %s: %w", Name, err)
	}
	if err := handOver(folder, l.temp); err != nil {
		return err
	}
	if _, err := os.Stat(l.data); err == nil {
		return nil
	}

	unfinished := l.data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("clear %s: %w", unfinished, err)
	}
	argv := s.initialize(unfinished, folder)
	if output, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("create the system tables of %s: %w\n%s", Name, err, output)
	}
	if err := os.Rename(unfinished, l.data); err != nil {
		return fmt.Errorf("create the system tables of %s: %w", Name, err)
	}
	return nil
}

func (s *Server) initialize(data, folder string) []string {
	if !s.mariadb {
		argv := []string{s.daemon, "--no-defaults", "--initialize-insecure", "--datadir=" + data}
		return append(argv, asUser(folder)...)
	}
	script := filepath.Join(filepath.Dir(s.daemon), "mariadb-install-db")
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if path, err := exec.LookPath(name); err == nil {
			script = path
			break
		}
	}
	argv := []string{script, "--no-defaults", "--skip-test-db", "--skip-name-resolve", "--datadir=" + data}
	return append(argv, asUser(folder)...)
}

// handOver gives the folders to the account that the server runs as.
func handOver(folder, temp string) error {
	account := serviceAccount()
	if os.Geteuid() != 0 || account == nil || !reachable(folder) {
		return nil
	}
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return fmt.Errorf("account %s: %w", account.Username, err)
	}
	for _, path := range []string{folder, temp} {
		if err := os.Chown(path, uid, -1); err != nil {
			return fmt.Errorf("folder for %s: %w", Name, err)
		}
	}
	return nil
}
