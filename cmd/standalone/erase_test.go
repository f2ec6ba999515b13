// extra:whole

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/wordsearch"
)

// The words that ada writes. All files and tables are searched for them.
const (
	adasName, adasThread, adasRenamed = "Adalovelace", "Zucchinithread", "Quincerenamed"
	adasWords, adasEdit, adasEdited   = "Rhubarbwords", "Gooseberryfirst", "Elderflowersecond"
	bobsWords                         = "Medlarwords"

	adasImport, adasRejected, adasLater = "Damsonimport", "Bilberryrejected", "Sloelater"
	bobsImport, bobsRejected, bobsLate  = "Tansyimport", "Sorrelrejected", "Lovagelate" // by Bob, in Ada's name
)

var adasOwn = []string{adasName, adasThread, adasRenamed, adasWords, adasEdit, adasEdited, adasImport, adasRejected, adasLater, bobsImport, bobsRejected, bobsLate}

// After an erasure nothing that the person wrote can be read in any answer, file or table. All other data stays.
func TestAPersonIsForgotten(t *testing.T) {
	env := map[string]string{"ERASURE": "on", "SNAPSHOT_EVERY": "1", "LOG_LEVEL": "debug"}
	folder := t.TempDir()
	env["DATA_DIR"] = folder
	r := start(t, env)
	say := func(executor, path string, body map[string]any, headers ...string) answer {
		t.Helper()
		body["executor_id"] = executor
		got := r.do(t, "", path, body, headers...)
		if got.status >= 300 {
			t.Fatalf("%s: %s", path, got.raw)
		}
		return got
	}
	say(ada, "/accounts/register", map[string]any{"name": adasName})
	created := say(ada, "/threads/create", map[string]any{"name": adasThread})
	id, code := created.text("thread_id"), created.text("code")
	on := func(more map[string]any) map[string]any { more["thread_id"] = id; return more }
	say(ada, "/threads/add_member", on(map[string]any{"user_account_id": bob, "role": "Admin"}))
	say(ada, "/threads/rename", on(map[string]any{"name": adasRenamed}))
	say(bob, "/threads/post_message", on(map[string]any{"text": bobsWords}))
	said := say(ada, "/threads/post_message", on(map[string]any{"text": adasWords}), "Idempotency-Key", "k-1")
	edited := say(ada, "/threads/post_message", on(map[string]any{"text": adasEdit})).text("message_id")
	say(ada, "/threads/edit_message", on(map[string]any{"message_id": edited, "text": adasEdited}))
	imported := r.importLines(t, ada, fmt.Sprintf(`{"path":"/threads/post_message","body":{"thread_id":%q,"text":%q}}
		{"path":"/threads/post_message","body":{"text":%q}}`, id, adasImport, adasRejected))
	if got := r.result(t, ada, imported); !strings.Contains(got, adasRejected) || strings.Contains(got, adasImport) {
		t.Errorf("the import rejected %s", got)
	}
	inHerName := func(words ...string) string { // the second one is rejected
		return r.importLines(t, bob, fmt.Sprintf(`{"path":"/threads/post_message","body":{"executor_id":%[1]q,"thread_id":%[2]q,"text":%[3]q}}
			{"path":"/threads/post_message","body":{"executor_id":{"value":%[1]q},"text":%[4]q}}`, ada, id, words[0], words[1]))
	}
	importedByBob := inHerName(bobsImport, bobsRejected)
	if got := r.result(t, bob, importedByBob); !strings.Contains(got, `"line":2,"request":{"path"`) || !strings.Contains(got, bobsRejected) || strings.Contains(got, bobsImport) {
		t.Errorf("Bob's import rejected %s", got)
	}
	later := on(map[string]any{"text": adasLater})
	if first := say(ada, "/threads/post_message", later, "Prefer", "respond-async", "Idempotency-Key", "k-2"); r.result(t, ada, first.text("task_id")) == "" {
		t.Error("the command with respond-async has no answer")
	} else if again := say(ada, "/threads/post_message", later, "Prefer", "respond-async", "Idempotency-Key", "k-2"); again.text("task_id") != first.text("task_id") {
		t.Errorf("a repeat is answered with %s, first it was %s", again.raw, first.raw)
	}
	exported := say(bob, "/tasks/export_thread", on(map[string]any{})).text("task_id")
	for _, words := range []string{adasThread, adasEdit, adasImport, adasLater, bobsWords} {
		if got := r.result(t, bob, exported); !strings.Contains(got, words) {
			t.Errorf("before the erasure %q is not in the export %s", words, got)
		}
	}
	last := say(bob, "/threads/post_message", on(map[string]any{"text": bobsWords}))

	// Sealing must be invisible to readers and to decisions.
	if got := r.do(t, "", "/threads/edit_message", on(map[string]any{"executor_id": ada, "message_id": edited, "text": adasEdited})); got.code() != "text_unchanged" {
		t.Errorf("the same text again: %s", got.raw)
	}
	for _, executor := range []string{ada, bob} { // and another Admin
		if got := r.do(t, "", "/threads/rename", on(map[string]any{"executor_id": executor, "name": adasRenamed})); got.code() != "name_unchanged" {
			t.Errorf("the same name again: %s", got.raw)
		}
	}
	if got := r.do(t, "", "/accounts/rename", map[string]any{"executor_id": ada, "name": adasName}); got.code() != "name_unchanged" {
		t.Errorf("the same name again: %s", got.raw)
	}
	if again := say(ada, "/threads/post_message", on(map[string]any{"text": adasWords}), "Idempotency-Key", "k-1"); again.raw != said.raw {
		t.Errorf("a repeat is answered with %s, first it was %s", again.raw, said.raw)
	}
	if got := r.do(t, "", "/threads/post_message", on(map[string]any{"executor_id": ada, "text": "other"}), "Idempotency-Key", "k-1"); got.code() != "idempotency_key_reused" {
		t.Errorf("another text with the same key: %s", got.raw)
	}
	look := func(viewer, token string) string {
		return r.ask(t, "", fmt.Sprintf(`{ getThread(threadId: %[1]q, userAccountId: %[2]q) { name version }
			getMessages(threadId: %[1]q, userAccountId: %[2]q) { id text sender { name } } getAccount(accountId: %[3]q) { name closed }
			getThreadByCode(code: %[4]q, userAccountId: %[2]q) { name }
			threadAt(threadId: %[1]q, userAccountId: %[2]q, version: 6) { name messages { text } }
			accountHistory(accountId: %[3]q) { edges { node { data } } }
			threadHistory(threadId: %[1]q, userAccountId: %[2]q) { edges { node { data } } } }`, id, viewer, ada, code),
			"Consistency-Token", token).raw
	}
	before := look(bob, last.header.Get("Consistency-Token")+",account-"+ada+":1")
	for _, words := range []string{adasThread, adasRenamed, adasWords, adasEdit, adasEdited, adasImport, adasLater, adasName, bobsWords} {
		if !strings.Contains(before, words) {
			t.Errorf("before the erasure %q is not in %s", words, before)
		}
	}
	if where := found(t, folder, r.said.String(), adasOwn...); len(where) > 0 {
		t.Errorf("texts are stored in plain form: %v", where)
	}
	if where := found(t, folder, r.said.String(), "AccountRegistered", "personal_keys", "text_digest"); len(where) < 3 {
		t.Errorf("the search does not find plain words: it found %v", where)
	}

	erased := say(ada, "/accounts/erase", map[string]any{})
	var after string
	testenv.Eventually(t, 15*time.Second, func() error {
		if after = look(bob, erased.header.Get("Consistency-Token")); !strings.Contains(after, bobsWords) {
			return fmt.Errorf("the thread is not shown: %s", after)
		}
		for _, words := range adasOwn {
			if strings.Contains(after, words) {
				return fmt.Errorf("%q is still in %s", words, after)
			}
		}
		return nil
	})
	var decoded struct {
		Data struct {
			GetThread   struct{ Name string }
			GetMessages []struct {
				ID, Text string
				Sender   *struct{ Name string }
			}
			GetAccount struct {
				Name   string
				Closed bool
			}
		}
	}
	if err := json.Unmarshal([]byte(after), &decoded); err != nil {
		t.Fatalf("%v: %s", err, after)
	}
	texts := make([]string, 0, 7)
	for _, message := range decoded.Data.GetMessages {
		texts = append(texts, message.Text)
	}
	if got := decoded.Data; got.GetThread.Name != "[erased]" || !slices.Equal(texts, []string{bobsWords, "[erased]", "[erased]", "[erased]", "[erased]", "[erased]", bobsWords}) ||
		got.GetAccount.Name != "[erased]" || !got.GetAccount.Closed || got.GetMessages[1].Sender.Name != "[erased]" {
		t.Errorf("after the erasure: %s", after)
	}
	if where := found(t, folder, r.said.String(), adasOwn...); len(where) > 0 {
		t.Errorf("after the erasure there is still %v", where)
	}

	for task, executor := range map[string]string{imported: ada, exported: bob, importedByBob: bob} {
		if got := r.result(t, executor, task); !strings.Contains(got, "[erased]") {
			t.Errorf("after the erasure the result of a task is %s", got)
		} else if where := slices.IndexFunc(adasOwn, func(words string) bool { return strings.Contains(got, words) }); where >= 0 {
			t.Errorf("after the erasure %q is in the result of a task: %s", adasOwn[where], got)
		}
	}

	if got := r.result(t, bob, inHerName(bobsLate, bobsLate)); strings.Count(got, `"request":"[erased]"`) != 2 || strings.Count(got, `"code":"account_erased"`) != 2 {
		t.Errorf("an import in the name of an erased account rejected %s", got)
	}
	if where := found(t, folder, r.said.String(), adasOwn...); len(where) > 0 {
		t.Errorf("after that import, there is %v", where)
	}

	// No more commands are accepted in the erased account's name, it can't be registered again, and all else continues.
	for path, body := range map[string]map[string]any{
		"/threads/create": {"name": "new"}, "/accounts/register": {"name": "new"}, "/accounts/erase": {},
	} {
		body["executor_id"] = ada
		if got := r.do(t, "", path, body); got.status != 409 || got.code() != "account_erased" {
			t.Errorf("%s of an erased account: %s", path, got.raw)
		}
	}
	testenv.Eventually(t, 15*time.Second, func() error {
		if got := r.ask(t, "", fmt.Sprintf(`{ getMembers(threadId: %q, userAccountId: %q) { userAccountId } }`, id, bob)).raw; strings.Contains(got, ada) {
			return fmt.Errorf("the erased account has not left: %s", got)
		}
		return nil
	})
	renamed := say(bob, "/threads/rename", on(map[string]any{"name": "Bob's"}))
	if got := look(bob, renamed.header.Get("Consistency-Token")); !strings.Contains(got, `"name":"Bob's"`) {
		t.Error(got)
	}

	// A later rebuild from the journal must show the same.
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"readmodel.db", "readmodel.db-wal", "readmodel.db-shm"} {
		_ = os.Remove(filepath.Join(folder, name)) // those that exist
	}
	r = start(t, env)
	testenv.Eventually(t, 15*time.Second, func() error {
		if got := look(bob, renamed.header.Get("Consistency-Token")); !strings.Contains(got, bobsWords) || slices.ContainsFunc(adasOwn, func(words string) bool { return strings.Contains(got, words) }) {
			return fmt.Errorf("after a rebuild: %s", got)
		}
		return nil
	})
	if where := found(t, folder, r.said.String(), adasOwn...); len(where) > 0 {
		t.Errorf("after a rebuild there is still %v", where)
	}
}

// importLines starts an import and returns the id of its task.
func (r *running) importLines(t *testing.T, executor, lines string) (task string) {
	t.Helper()
	got, err := send(t, http.MethodPost, r.write+"/tasks/import", lines, []string{"Content-Type", "application/x-ndjson", "X-Executor-Id", executor})
	if err != nil || got.status != http.StatusAccepted {
		t.Fatalf("%v %s", err, got.raw)
	}
	return got.text("task_id")
}

// result waits for the end of a task and returns its result.
func (r *running) result(t *testing.T, executor, task string) (result string) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, func() error {
		got := r.see(t, "", "/tasks/"+task+"/result", "X-Executor-Id", executor)
		if result = got.raw; got.status != http.StatusOK {
			return fmt.Errorf("%d %s", got.status, got.raw)
		}
		return nil
	})
	return result
}

// found returns where the words occur: in files of the folder, in rows of its databases, or in the program's output.
func found(t *testing.T, folder, said string, words ...string) []string {
	t.Helper()
	search := wordsearch.New(t)
	search.Text("the log", said)
	search.Files(folder)
	for _, name := range []string{"events.db", "readmodel.db"} {
		db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(folder, name), database.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		search.SQL(t.Context(), db)
		_ = db.Close()
	}
	return search.Find(words...)
}
