// extra:whole

package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/threads/es/database"
)

// The JSON in docs/concepts.md is what the program answers and stores. Where it ends with "...", fields are left out.
func TestTheJSONOfTheConceptsIsReal(t *testing.T) {
	page, err := os.ReadFile("../../docs/concepts.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 9 {
		t.Fatalf("%d blocks of JSON", len(blocks))
	}
	command, isPost := strings.CutPrefix(blocks[0][1], "POST /threads/post_message\n")
	if !isPost {
		t.Fatal(blocks[0][1])
	}
	var posted struct {
		Thread   string `json:"thread_id"`
		Executor string `json:"executor_id"`
	}
	if err := json.Unmarshal([]byte(command), &posted); err != nil {
		t.Fatal(err)
	}

	data := t.TempDir()
	r := start(t, map[string]string{"DATA_DIR": data})
	created := r.post(t, "/threads/create", `{"executor_id":"`+posted.Executor+`","name":"tea"}`, http.StatusCreated)
	thread := created.text("thread_id")
	command = strings.ReplaceAll(command, posted.Thread, thread)
	stranger := strings.ReplaceAll(command, posted.Executor, "01ARZ3NDEKTSV4RRFFQ69G5FB0")
	rejection := r.post(t, "/threads/post_message", stranger, http.StatusForbidden)
	answer := r.post(t, "/threads/post_message", command, http.StatusOK)
	message := answer.text("message_id")
	read := r.ask(t, "", `{ getMessages(threadId: "`+thread+`", userAccountId: "`+posted.Executor+`") { text } }`,
		"Consistency-Token", answer.header.Get("Consistency-Token"))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	events, rows := filepath.Join(data, "events.db"), filepath.Join(data, "readmodel.db")
	event := rowOf(t, events, "SELECT * FROM events WHERE aggregate_id = ? AND version = 2", "thread-"+thread)
	content, _ := event["event_content"].(map[string]any)
	checkpoint := rowOf(t, rows, "SELECT * FROM checkpoints WHERE projection = ?", "read-model")
	position := rowOf(t, rows, "SELECT * FROM projection_positions WHERE projection = 'read-model' AND aggregate_id = ?", thread)
	row := rowOf(t, rows, "SELECT * FROM messages WHERE id = ?", message)

	// The page has other identifiers.
	eventID, _ := content["id"].(string)
	mark, _ := checkpoint["position"].(string)
	ours := []string{posted.Thread, thread}
	for pattern, value := range map[string]string{`"message_id":"(\w+)"`: message, `"id":"(\w+)","seq_nr"`: eventID, `"position":"(.*?)"`: mark} {
		shown := regexp.MustCompile(pattern).FindStringSubmatch(string(page))
		if shown == nil {
			t.Fatalf("the page has nothing like %s", pattern)
		}
		ours = append(ours, shown[1], value)
	}
	said := strings.NewReplacer(ours...)
	stations := []map[string]any{rejection.body, content, event, answer.body, checkpoint, position, row, read.body}
	for i, got := range stations {
		text, want := said.Replace(blocks[i+1][1]), map[string]any{}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, ", ...", `, "...": 0`)), &want); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, shownOf(got, want)); diff != "" {
			t.Errorf("block %d (-page +program):\n%s", i+2, diff)
		}
	}
}

// rowOf reads a row as JSON would have it.
func rowOf(t *testing.T, file, query, arg string) map[string]any {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+file, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	row := map[string]any{}
	if err := db.QueryRowxContext(t.Context(), query, arg).MapScan(row); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for name, value := range row {
		switch value := value.(type) {
		case int64:
			row[name] = float64(value)
		case string:
			var object map[string]any
			if json.Unmarshal([]byte(value), &object) == nil {
				row[name] = object
			}
		}
	}
	return row
}

// shownOf returns what the page should have of an object: all fields, or its own and "..." if there are others.
func shownOf(got, page map[string]any) map[string]any {
	shown := maps.Clone(got)
	for name, value := range got {
		said, is := page[name]
		inner, isObject := value.(map[string]any)
		if _, short := page["..."]; short && !is {
			delete(shown, name)
			shown["..."] = float64(0)
		} else if saidInner, both := said.(map[string]any); isObject && both {
			shown[name] = shownOf(inner, saidInner)
		}
	}
	return shown
}
