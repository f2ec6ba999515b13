// extra:replica

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programtest"
	"example.com/threads/tests/readmodeltest"
)

// A copy of a file stands for a replica that has stopped. tests/e2e replicates between servers. // extra:whole
func TestAReplica(t *testing.T) {
	db := readmodeltest.SQLite(t, system.Schemas()...)
	w := db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("before", alice)
	copied := "sqlite:" + filepath.Join(t.TempDir(), "copy.db")
	if _, err := db.DB.ExecContext(t.Context(), "VACUUM INTO ?", strings.TrimPrefix(copied, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	w.Rename(chat, "after")
	posted := w.Post(chat, alice, "hello")
	p := programtest.Start(t, run, map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": db.URL, "READ_DATABASE_URL": copied})
	ids := fmt.Sprintf(`(threadId: \"%s\", userAccountId: \"%s\"`, chat, alice)
	ask := func(field, token string) string {
		header := map[string]string{}
		if token != "" {
			header["Consistency-Token"] = token
		}
		return programtest.Post(t, p.URL+"/graphql", `{"query": "{ `+field+` }"}`, header).Body
	}
	name := "getThread" + ids + `) { name }`
	shows := func(want, warning string) {
		t.Helper()
		testenv.Eventually(t, 20*time.Second, func() error {
			body, health := ask(name, ""), programtest.Get(t, p.URL+"/health/ready").Body
			if !strings.Contains(body, want) || strings.Contains(health, "READ_DATABASE_URL") != (warning != "") {
				return errors.New(body + health)
			}
			return nil
		})
	}

	shows("before", "")
	if got := ask(name, fmt.Sprintf("%s:2", chat)); !strings.Contains(got, "after") {
		t.Errorf("with a token that the replica lacks: %s", got)
	}
	if got := ask(name, fmt.Sprintf("%s:9", chat)); !strings.Contains(got, "READ_MODEL_BEHIND") {
		t.Errorf("with a token that nobody has: %s", got)
	}
	if got := ask("getMessages"+ids+`, after: \"`+posted.String()+`\") { text }`, ""); got != `{"data":{"getMessages":[]}}` {
		t.Errorf("a page after a row that the replica lacks: %s", got)
	}
	if metrics := programtest.Get(t, p.URL+"/metrics").Body; !strings.Contains(metrics, `replica_bypassed_total{reason="behind"} 3`) {
		t.Error("not all requests that read the writer are counted")
	}

	replica, err := database.Open(t.Context(), copied, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replica.Close() }()
	for _, step := range []struct{ statement, shows, warning string }{
		{"ALTER TABLE projection_positions RENAME TO gone", "after", "it does not answer"},
		{"ALTER TABLE gone RENAME TO projection_positions", "before", ""},
	} {
		if _, err := replica.ExecContext(t.Context(), step.statement); err != nil {
			t.Fatal(err)
		}
		shows(step.shows, step.warning)
	}
}

// A connection that dies in the middle of the rows: what was read is read again from the writer, as a whole.
func TestAReplicaDiesWhileItSendsRows(t *testing.T) {
	db := readmodeltest.MySQL(t, system.Schemas()...)
	w := db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("long", alice)
	const messages = 100
	for n := range messages {
		w.Post(chat, alice, fmt.Sprint(n, strings.Repeat("x", 1000)))
	}
	to, allowed := severed(t, db.URL)
	p := programtest.Start(t, run, map[string]string{"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": db.URL, "READ_DATABASE_URL": to})
	ask := func() string {
		return programtest.Post(t, p.URL+"/graphql", fmt.Sprintf(`{"query": "{ getMessages(threadId: \"%s\", userAccountId: \"%s\", first: %d) { text } }"}`, chat, alice, messages), nil).Body
	}
	bypassed := func() bool {
		return strings.Contains(programtest.Get(t, p.URL+"/metrics").Body, `replica_bypassed_total{reason="unavailable"}`)
	}
	testenv.Eventually(t, 20*time.Second, func() error {
		if strings.Contains(programtest.Get(t, p.URL+"/health/ready").Body, "READ_DATABASE_URL") {
			return errors.New("the replica does not answer")
		}
		return nil
	})
	whole := ask()
	if strings.Count(whole, "xxx\"") != messages || bypassed() {
		t.Fatalf("from the replica: %.300s", whole)
	}
	allowed.Store(50_000) // half of the rows
	if got := ask(); got != whole || !bypassed() {
		t.Errorf("after the replica has died among the rows: %d of %d bytes: %.300s", len(got), len(whole), got)
	}
	if left := allowed.Load(); left > 0 {
		t.Errorf("%d bytes more may come: the replica has not died", left)
	}
}

// severed returns the URL of a way to a database which dies with the connection that has sent so many bytes.
func severed(t *testing.T, url string) (string, *atomic.Int64) {
	t.Helper()
	config, err := mysql.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	network, server := config.Net, config.Addr
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var allowed atomic.Int64
	allowed.Store(1 << 40)
	carry := func(client net.Conn) {
		defer func() { _ = client.Close() }()
		to, err := new(net.Dialer).DialContext(t.Context(), network, server)
		if err != nil {
			return
		}
		defer func() { _ = to.Close() }()
		go func() { _, _ = io.Copy(to, client); _ = to.Close() }()
		for part := make([]byte, 1000); ; {
			n, err := to.Read(part)
			if allowed.Add(-int64(n)) < 0 || err != nil {
				return
			}
			if _, err := client.Write(part[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(client)
		}
	}()
	config.Net, config.Addr = "tcp", listener.Addr().String()
	return config.FormatDSN(), &allowed
}
