package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// mariaDB is a server in a temporary folder, which can follow another one.
type mariaDB struct {
	folder string
	port   int
	args   []string
	life   *exec.Cmd
}

// firstStatements of each server are not replicated. The programs' account has no right that beats read_only.
const firstStatements = `SET SQL_LOG_BIN=0;
CREATE USER IF NOT EXISTS 'threads'@'%' IDENTIFIED BY 'threads';
GRANT ALL ON threads.* TO 'threads'@'%';
CREATE USER IF NOT EXISTS 'admin'@'%' IDENTIFIED BY 'admin';
GRANT ALL ON *.* TO 'admin'@'%';
CREATE DATABASE IF NOT EXISTS threads CHARACTER SET utf8mb4;
`

// mariaDBs starts two servers. The second follows the first, and is read only.
func mariaDBs(t *testing.T) (first, second *mariaDB) {
	t.Helper()
	daemon, err := exec.LookPath("mariadbd")
	if err != nil {
		daemon, err = exec.LookPath("/usr/sbin/mariadbd")
	}
	install, installErr := exec.LookPath("mariadb-install-db")
	if err != nil || installErr != nil {
		t.Skip("left out: this test replicates between two MariaDB servers of its own, and mariadbd or mariadb-install-db is not installed; MySQL is not tried")
	}
	folder, err := os.MkdirTemp("", "sql") //nolint:usetesting // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	var account []string
	if os.Geteuid() == 0 {
		account = []string{"--user=root"}
	}
	empty := filepath.Join(folder, "empty")
	argv := append([]string{"--no-defaults", "--force", "--skip-test-db", "--skip-name-resolve", "--datadir=" + empty}, account...)
	if output, err := exec.CommandContext(t.Context(), install, argv...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	begin := func(id int) *mariaDB {
		m := &mariaDB{folder: filepath.Join(folder, fmt.Sprint(id)), port: testenv.FreePort(t)}
		if err := os.CopyFS(filepath.Join(m.folder, "data"), os.DirFS(empty)); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(m.folder, "first.sql")
		if err := os.WriteFile(first, []byte(firstStatements), 0o600); err != nil {
			t.Fatal(err)
		}
		m.args = append([]string{
			daemon, "--no-defaults", "--datadir=" + filepath.Join(m.folder, "data"), "--socket=" + filepath.Join(m.folder, "socket"),
			"--pid-file=" + filepath.Join(m.folder, "pid"), "--tmpdir=" + m.folder, "--init-file=" + first, "--bind-address=127.0.0.1",
			fmt.Sprint("--port=", m.port), fmt.Sprint("--server-id=", id), "--log-bin=changes", "--log-slave-updates", "--skip-name-resolve",
			"--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=2", "--innodb-fast-shutdown=2",
		}, account...)
		m.start(t)
		t.Cleanup(func() { m.kill(t) })
		return m
	}
	first, second = begin(1), begin(2)
	second.follow(t, first, 0)
	return first, second
}

// start returns when the server answers.
func (m *mariaDB) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(m.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	m.life = exec.CommandContext(context.WithoutCancel(t.Context()), m.args[0], m.args[1:]...)
	m.life.Stdout, m.life.Stderr = log, log
	m.life.SysProcAttr = testenv.DieWithParent()
	if err := m.life.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 30*time.Second, func() error {
		db, err := database.Open(t.Context(), m.admin(), database.Settings{})
		if err != nil {
			return err
		}
		return db.Close()
	})
}

// kill ends the server with SIGKILL, if it runs.
func (m *mariaDB) kill(t *testing.T) {
	t.Helper()
	if m.life != nil {
		m.signal(t, syscall.SIGKILL)
		_ = m.life.Wait() // the error is about the kill
		m.life = nil
	}
}

func (m *mariaDB) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := m.life.Process.Signal(signal); err != nil {
		t.Errorf("signal %v to the server: %v", signal, err)
	}
}

func (m *mariaDB) at() string    { return fmt.Sprintf("127.0.0.1:%d", m.port) }
func (m *mariaDB) admin() string { return "admin:admin@tcp(" + m.at() + ")/threads" }

// urlAt is the programs' DATABASE_URL for a server at an address.
func urlAt(address string) string { return "threads:threads@tcp(" + address + ")/threads" }

// open opens an operator's connections until the test ends.
func (m *mariaDB) open(t *testing.T) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), m.admin(), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// run runs statements as an operator.
func (m *mariaDB) run(t *testing.T, statements ...string) {
	t.Helper()
	db := m.open(t)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// follow makes the server a replica of another one, whose changes it applies so many seconds later.
func (m *mariaDB) follow(t *testing.T, other *mariaDB, delay int) {
	t.Helper()
	m.run(t, "SET GLOBAL read_only = 1", "STOP SLAVE", "SET GLOBAL gtid_slave_pos = @@gtid_current_pos", fmt.Sprintf(
		"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'admin', MASTER_PASSWORD = 'admin', "+
			"MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos, MASTER_DELAY = %d", other.port, delay), "START SLAVE")
}

// promote ends the replication to the server, which takes writes from now on.
func (m *mariaDB) promote(t *testing.T) {
	t.Helper()
	m.run(t, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0")
}

// cut ends the programs' connections for which a condition holds.
func (m *mariaDB) cut(t *testing.T, which string) {
	t.Helper()
	db := m.open(t)
	defer func() { _ = db.Close() }()
	var ids []int
	if err := db.SelectContext(t.Context(), &ids, "SELECT id FROM information_schema.processlist WHERE user = 'threads' AND "+which); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, _ = db.ExecContext(t.Context(), fmt.Sprint("KILL ", id)) // it may have gone
	}
}

// awaitLevel returns when the replica has what the other one has now.
func (m *mariaDB) awaitLevel(t *testing.T, other *mariaDB) {
	t.Helper()
	var position string
	var late int
	if err := other.open(t).GetContext(t.Context(), &position, "SELECT @@gtid_binlog_pos"); err != nil {
		t.Fatal(err)
	}
	if err := m.open(t).GetContext(t.Context(), &late, "SELECT MASTER_GTID_WAIT(?, 30)", position); err != nil || late != 0 {
		t.Fatalf("the replica does not reach %s: %d, %v", position, late, err)
	}
}

// address is one that servers take over from each other.
type address struct {
	at     string
	server atomic.Pointer[string]
}

func newAddress(t *testing.T, m *mariaDB) *address {
	t.Helper()
	a := &address{}
	a.lead(m)
	a.at = testenv.Accept(t, func(client net.Conn) { new(wires).lead(client, *a.server.Load()) })
	return a
}

// lead leads new connections to a server.
func (a *address) lead(to *mariaDB) {
	at := to.at()
	a.server.Store(&at)
}
