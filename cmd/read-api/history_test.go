// extra:history

package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/programtest"
	"example.com/threads/tests/readmodeltest"
)

// Without the event store the program must start and answer everything except history. Once the store is there, it must
// find it. History does not need the thread's rows.
func TestHistoryWithoutTheEventStore(t *testing.T) {
	db := readmodeltest.SQLite(t, system.Schemas()...)
	folder := filepath.Join(t.TempDir(), "later")
	store := "sqlite:" + filepath.Join(folder, "events.db")
	p := programtest.Start(t, run, map[string]string{
		"READ_API_ADDR": "127.0.0.1:0", "DATABASE_URL": db.URL, "EVENT_STORE": "sqlite", "EVENT_STORE_URL": store,
	})
	alice, id := readmodeltest.NewUser(), kit.NewID[thread.Thread]()
	ask := func(field string) string {
		inThread := `(threadId: \"` + id.String() + `\", userAccountId: \"` + alice.String() + `\"`
		document := `{"query": "{ ` + field + map[string]string{
			"threadHistory": inThread + `) { edges { node { seqNr type executorId source } } }`, "threadAt": inThread + `, version: 1) { name }`,
			"accountHistory": `(accountId: \"` + alice.String() + `\") { edges { cursor } }`, "getThread": inThread + `) { name }`,
		}[field] + ` }"}`
		return programtest.Post(t, p.URL+"/graphql", document, nil).Body
	}
	for field, want := range map[string]string{"threadHistory": "UNAVAILABLE", "threadAt": "UNAVAILABLE", "accountHistory": "UNAVAILABLE", "getThread": "NOT_FOUND"} {
		if got := ask(field); !strings.Contains(got, `"code":"`+want+`"`) {
			t.Errorf("without the store: %s: %s, want %s", field, got, want)
		}
	}
	const warning = "the event store can't be used"
	if ready := programtest.Get(t, p.URL+"/health/ready"); ready.Status != http.StatusOK || !strings.Contains(ready.Body, warning) {
		t.Errorf("without the store: %d %s", ready.Status, ready.Body)
	}

	createThread(t, folder, store, id, alice)
	for field, want := range map[string]string{
		"threadHistory": `{"data":{"threadHistory":{"edges":[{"node":{"seqNr":1,"type":"ThreadCreated","executorId":"` + alice.String() + `","source":"test"}}]}}}`,
		"threadAt":      `{"data":{"threadAt":{"name":"tea"}}}`,
	} {
		if got := ask(field); got != want {
			t.Errorf("with the store: %s: %s, want %s", field, got, want)
		}
	}
	if got := ask("getThread"); !strings.Contains(got, "NOT_FOUND") {
		t.Errorf("the read model has the thread, so this test proves nothing: %s", got)
	}
	if got := ask("accountHistory"); !strings.Contains(got, "NOT_FOUND") {
		t.Errorf("an account that does not exist: %s", got)
	}
	if ready := programtest.Get(t, p.URL+"/health/ready"); ready.Status != http.StatusOK || strings.Contains(ready.Body, warning) {
		t.Errorf("with the store: %d %s", ready.Status, ready.Body)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

// createThread creates an event store with a thread in it.
func createThread(t *testing.T, folder, url string, id thread.ID, creator thread.UserID) {
	t.Helper()
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gateway.Close(context.WithoutCancel(t.Context())) }()
	threads := es.NewService(eventjson.Threads(), gateway, es.Settings{})
	_, err = threads.Handle(t.Context(), es.Request[thread.Command]{
		Caller: es.Caller{Executor: creator.String(), Source: "test"}, ID: id.String(), Begins: true, Name: "create",
		Command: thread.Create{Executor: creator, Member: kit.NewID[thread.Member](), Name: writing.RecordedName("tea")},
	})
	err = errors.Join(err, threads.Close(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
}
