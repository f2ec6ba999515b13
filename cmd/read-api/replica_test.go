// extra:replica

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
