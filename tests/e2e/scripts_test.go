package e2e

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
	"example.com/threads/tools/healthcheck/health"
)

// damaged is a system with a thread of 12 events, and what an operator's script is told.
type damaged struct {
	*system
	ada         person
	thread, aid string
	backup      string // of the event store
	mysql       string // the client of its database
	mysqldump   string
}

func (d *damaged) post(t *testing.T, text string) answer {
	t.Helper()
	return d.ada.command(t, "/threads/post_message", fields{"thread_id": d.thread, "text": text})
}

// wantMessages posts one more and checks how many there are.
func (d *damaged) wantMessages(t *testing.T, want int) {
	t.Helper()
	if view := d.ada.view(t, d.thread, token(d.post(t, "one more"))); len(view.Messages) != want || view.Name != "tea" {
		t.Errorf("afterwards %q has %d messages, want %d", view.Name, len(view.Messages), want)
	}
}

func (d *damaged) rows(t *testing.T, statement string) {
	t.Helper()
	sqlSpoiler{variable(d.store, "DATABASE_URL")}.run(t, statement, d.thread)
}

// loses takes a backup, after which two messages come. Then the programs that write are stopped.
func (d *damaged) loses(t *testing.T, takeBackup func()) {
	t.Helper()
	d.writer.Stop(t)
	takeBackup()
	d.writer.Start(t)
	d.post(t, "lost")
	d.ada.view(t, d.thread, token(d.post(t, "lost, too")))
	d.writer.Stop(t)
}

// scripts are the sections of docs/operations.md that have a script: what is done to the system before, and what must
// hold after it. The system is one on SQLite, but where it is named.
var scripts = map[string]struct {
	damage, after func(*testing.T, *damaged)
	on            func(*testing.T) *system
}{
	"Prepare": {},
	"Commands of one aggregate fail": {
		damage: func(t *testing.T, d *damaged) { spoilerOf(t, d.store).setHead(t, d.aid, 10) },
		after:  func(t *testing.T, d *damaged) { d.wantMessages(t, 12) },
	},
	"Restore": {
		damage: func(t *testing.T, d *damaged) {
			d.loses(t, func() {
				content, err := os.ReadFile(filepath.Join(d.folder, "events.db"))
				if err == nil {
					err = os.WriteFile(d.backup, content, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		},
		after: func(t *testing.T, d *damaged) {
			d.writer.Start(t)
			d.wantMessages(t, 12)
		},
	},
	"On MySQL or MariaDB": {
		on: func(t *testing.T) *system {
			return threePrograms(t, []string{"EVENT_STORE=mysql", "EVENT_STORE_URL=" + testenv.MySQL(t), "DATABASE_URL=" + testenv.MySQL(t), snapshotsOften})
		},
		damage: func(t *testing.T, d *damaged) {
			d.mysql, d.mysqldump = d.clientOf(t, "mysql"), d.clientOf(t, "mysqldump")
			d.loses(t, func() { d.script(t, `$DUMP --single-transaction > "$BACKUP"`, "DUMP="+d.mysqldump, "BACKUP="+d.backup) })
			d.projector.Stop(t)
			d.reader.Stop(t)
		},
		after: func(t *testing.T, d *damaged) {
			for _, program := range []*programs.Program{d.projector, d.reader, d.writer} {
				program.Start(t)
			}
			d.wantMessages(t, 12)
		},
	},
	"Rows are wrong": {
		damage: func(t *testing.T, d *damaged) { d.rows(t, "UPDATE threads SET name = 'coffee' WHERE id = ?") },
		after:  func(t *testing.T, d *damaged) { d.wantMessages(t, 12) },
	},
	"Rows must be rebuilt": {
		damage: func(t *testing.T, d *damaged) { d.rows(t, "DELETE FROM messages WHERE thread_id = ?") },
		after:  func(t *testing.T, d *damaged) { d.wantMessages(t, 12) },
	},
	"An aggregate is parked": {
		damage: func(t *testing.T, d *damaged) {
			spoilerOf(t, d.store).addEvent(t, d.aid, 13, `{"type":"ThreadTeleported","id":"x"}`)
			testenv.Eventually(t, 30*time.Second, func() error {
				if listed, _, _ := d.tryOperate(t, "dead-letters", "list"); strings.Count(listed, d.aid) < 2 {
					return fmt.Errorf("not parked in both projections:\n%s", listed)
				}
				return nil
			})
		},
		after: func(t *testing.T, d *damaged) { d.operate(t, allIsWell, "dead-letters", "list") },
	},
	"A process manager can't go on": {
		damage: func(t *testing.T, d *damaged) {
			bob := d.person("")
			bob.command(t, "/accounts/register", fields{"name": "Bob"})
			d.ada.command(t, "/threads/add_member", fields{"thread_id": d.thread, "user_account_id": bob.id, "role": "Member"})
			spoilerOf(t, d.store).setHead(t, d.aid, 20)
			d.writer.Stop(t) // what it has in memory is right
			d.writer.Start(t)
			bob.command(t, "/accounts/close", nil)
			testenv.Eventually(t, leavesWithin, func() error {
				if listed, _, _ := d.tryOperate(t, "dead-letters", "list"); !strings.Contains(listed, "leave-on-close") {
					return fmt.Errorf("no command fails:\n%s", listed)
				}
				return nil
			})
		},
		after: func(t *testing.T, d *damaged) {
			testenv.Eventually(t, leavesWithin, func() error {
				if view := d.ada.view(t, d.thread); len(view.Members) != 1 {
					return fmt.Errorf("the thread has %d members", len(view.Members))
				}
				return nil
			})
		},
	},
	"The disk is full": {after: func(t *testing.T, d *damaged) { d.wantMessages(t, 12) }},
	"Pruning": {
		damage: func(t *testing.T, d *damaged) {
			deleted := d.ada.command(t, "/threads/delete", fields{"thread_id": d.thread})
			// With its token, the query waits for the rows.
			d.ada.refused(t, wholeThread, fields{"thread": d.thread, "viewer": d.ada.id}, token(deleted))
			d.rows(t, "UPDATE threads SET updated_at = 0 WHERE id = ?")
		},
		after: func(t *testing.T, d *damaged) { d.operate(t, allIsWell, "rows", "verify") },
	},
}

// scriptsOfTheOperators returns those of docs/operations.md, by section.
func scriptsOfTheOperators(t *testing.T) map[string]string {
	t.Helper()
	document, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, section := range regexp.MustCompile(`(?m)^##+ `).Split(string(document), -1) {
		heading, text, _ := strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			found[heading] += block[1]
		}
	}
	return found
}

const restoreOnDynamoDB = "On DynamoDB" // TestARestoreOnDynamoDB

// The scripts of docs/operations.md do what they say.
func TestTheScriptsOfTheOperators(t *testing.T) {
	startsPrograms(t)
	found := scriptsOfTheOperators(t)
	delete(found, restoreOnDynamoDB)
	if have, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(scripts)); !slices.Equal(have, want) {
		t.Errorf("the page has scripts for %q; this test knows %q", have, want)
	}
	for heading, about := range scripts {
		t.Run(heading, func(t *testing.T) {
			on := about.on
			if on == nil {
				on = func(t *testing.T) *system { return oneProcess(t) }
			}
			d := &damaged{system: on(t), backup: filepath.Join(t.TempDir(), "backup")}
			d.ada = d.person("")
			d.thread = d.ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
			d.aid = "thread-" + d.thread
			for i := range 11 {
				d.post(t, fmt.Sprint("cup ", i))
			}
			if about.damage != nil {
				about.damage(t, d)
			}
			d.script(t, found[heading], "DATA_DIR="+d.folder, "AID="+d.aid, "PROCESS=leave-on-close", "BACKUP="+d.backup, "MYSQL="+d.mysql, "MYSQLDUMP="+d.mysqldump, "PATH="+binaries+":"+os.Getenv("PATH"))
			if about.after != nil {
				about.after(t, d)
			}
		})
	}
}

// clientOf returns the command line of a client of the event store's database.
func (d *damaged) clientOf(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("left out: it backs up and restores a database, and %s is not installed", name)
	}
	config, err := mysql.ParseDSN(variable(d.store, "EVENT_STORE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(config.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s --protocol=tcp --host=%s --port=%s --user=%s --password=%s %s", name, host, port, config.User, config.Passwd, config.DBName)
}

// The commands of the README start the programs on one database.
func TestTheReadmesLinesWorkOnOneDatabase(t *testing.T) {
	startsPrograms(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(export EVENT_STORE=mysql.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no such commands")
	}
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t)) }
	write, updater, read, page := address(), address(), address(), address()
	script := exec.CommandContext(t.Context(), "bash", "-euc", strings.NewReplacer(
		"user:password@tcp(127.0.0.1:3306)/threads", testenv.MySQL(t), "go run ./rdb-migration/cmd/", binaries+"/", "go run ./cmd/", binaries+"/",
	).Replace(string(block[1]))+"wait")
	script.Env = append(os.Environ(), "WRITE_API_ADDR="+write, "UPDATER_ADDR="+updater, "READ_API_ADDR="+read, "WEB_ADDR="+page,
		"WRITE_API_URL=http://"+write, "UPDATER_URL=http://"+updater, "READ_API_URL=http://"+read)
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-script.Process.Pid, syscall.SIGTERM) // the shell, and what it has started
		_ = script.Wait()
	})
	testenv.Eventually(t, time.Minute, func() error { return health.Check(t.Context(), "http://"+page+"/api/read/health/ready") })
	ada := (&system{writeURL: "http://" + page + "/api/write", readURL: "http://" + page + "/api/read", updaterURL: "http://" + updater}).person("")
	created := ada.command(t, "/threads/create", fields{"name": "tea"})
	if view := ada.view(t, created.text("thread_id"), token(created)); view.Name != "tea" {
		t.Errorf("the thread is %+v", view)
	}
}

// script runs what an operator types, and returns what it prints.
func (s *system) script(t *testing.T, text string, env ...string) string {
	t.Helper()
	script := exec.CommandContext(t.Context(), "sh", "-euc", text)
	script.Dir = "../.."
	script.Env = append(append(os.Environ(), s.store...), env...)
	said, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	return string(said)
}
