package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// get sends a GET request as the person.
func (p person) get(t *testing.T, path string) answer {
	t.Helper()
	header := maps.Clone(p.header)
	header["X-Executor-Id"] = p.id
	a, err := exchange(t.Context(), http.MethodGet, p.system.writeURL+path, nil, header)
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", path, a.status, a.raw, err)
	}
	return a
}

// patient is as long as a task may take beside all other tests.
const patient = 8 * time.Minute

// finished waits for the end of a task and returns the lines of its result.
func (p person) finished(t *testing.T, id, status string) (task answer, lines [][]byte) {
	t.Helper()
	testenv.Eventually(t, patient, func() error {
		if task = p.get(t, "/tasks/"+id); task.text("status") == "queued" || task.text("status") == "running" {
			return fmt.Errorf("still %s", task.raw)
		}
		return nil
	})
	if task.text("status") != status {
		t.Fatalf("the task ended as %s", task.raw)
	}
	for line := range bytes.Lines(p.get(t, "/tasks/"+id+"/result").raw) {
		lines = append(lines, line)
	}
	return task, lines
}

// An import must survive kills of the worker: each accepted line is applied once, the others are in the result.
func TestAnImportSurvivesKills(t *testing.T) { eachOwnSystem(t, testAnImportSurvivesKills) }

func testAnImportSurvivesKills(t *testing.T, s *system) {
	const count = 20 // several threads, so that lines are handled concurrently
	lines := 600
	if s.folder != "" {
		lines = 3000 // SQLite is fast
	}
	ada := s.person("acme")
	var threads []string
	for range count {
		threads = append(threads, ada.command(t, "/threads/create", fields{"name": "imported"}).text("thread_id"))
	}
	var input strings.Builder
	for i := range lines {
		text := fmt.Sprintf("line %d", i+1)
		if (i+1)%10 == 0 {
			text = " "
		}
		fmt.Fprintf(&input, `{"path":"/threads/post_message","body":{"thread_id":%q,"text":%q}}`+"\n", threads[i%count], text)
	}
	header := headers{"X-Tenant-Code": "acme", "X-Executor-Id": ada.id, "Content-Type": "application/x-ndjson", "Idempotency-Key": "import"}
	accept := func() string {
		accepted, err := send(t.Context(), s.writeURL+"/tasks/import", []byte(input.String()), header)
		if err != nil || accepted.status != http.StatusAccepted {
			t.Fatalf("%d %s, %v", accepted.status, accepted.raw, err)
		}
		return accepted.text("task_id")
	}
	task := accept()
	for _, version := range []float64{2, float64(lines / count / 4)} {
		testenv.Eventually(t, patient, func() error {
			// A rejection because of the version contains the current version.
			refused := ada.attempt(t, "/threads/rename", fields{"thread_id": threads[0], "name": "x"}, headers{"If-Match": `"987654321"`})
			if current, _ := refused.body["current_version"].(float64); current < version {
				return fmt.Errorf("the thread is at version %v", current)
			}
			return nil
		})
		if status := ada.get(t, "/tasks/"+task).text("status"); status != "running" {
			t.Fatalf("the import was %s before the first kill", status)
		}
		s.projector.Kill(t)
		s.projector.Start(t)
	}
	done, rejected := ada.finished(t, task, "succeeded")
	if all := float64(lines); done.body["done"] != all || done.body["total"] != all || done.body["rejected"] != all/10 {
		t.Errorf("in the end: %s", done.raw)
	}
	for i, line := range rejected {
		if want := fmt.Sprintf(`{"line":%d,`, (i+1)*10); !bytes.HasPrefix(line, []byte(want)) || !bytes.Contains(line, []byte(`"code":"invalid_request"`)) {
			t.Errorf("rejected: %s, want %s", line, want)
		}
	}
	applied := 0
	for i, thread := range threads {
		messages := ada.messagesOf(t, thread, fmt.Sprintf("%s:%d", thread, 1+len(linesOf(i, count, lines))))
		for n, number := range linesOf(i, count, lines) {
			if n >= len(messages) || messages[n].Text != fmt.Sprintf("line %d", number) {
				t.Fatalf("thread %d has %d messages, and line %d is not at its place", i, len(messages), number)
			}
		}
		applied += len(messages)
	}
	if len(rejected) != lines/10 || applied != lines-lines/10 {
		t.Errorf("%d lines are rejected, %d applied", len(rejected), applied)
	}
	if again := accept(); again != task {
		t.Errorf("with the same key it is task %s, and then %s", task, again)
	}

	exporting := ada.command(t, "/tasks/export_thread", fields{"thread_id": threads[0]})
	_, events := ada.finished(t, exporting.text("task_id"), "succeeded")
	if last := linesOf(0, count, lines); len(events) != 1+len(last) || !bytes.Contains(events[len(last)], fmt.Appendf(nil, `"line %d"`, last[len(last)-1])) {
		t.Errorf("%d events are exported, and the last one is %s", len(events), events[len(events)-1])
	}
}

// linesOf returns the numbers of the accepted lines for a thread.
func linesOf(thread, threads, lines int) (numbers []int) {
	for number := thread + 1; number <= lines; number += threads {
		if number%10 != 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// A command can become a task. The task's result must equal the command's answer.
func TestCommandsThatAreDoneLater(t *testing.T) { eachSystem(t, testCommandsThatAreDoneLater) }

func testCommandsThatAreDoneLater(t *testing.T, s *system) {
	ada, eve := s.person("acme"), s.person("acme")
	later := func(path string, body fields, key string) answer {
		t.Helper()
		accepted := ada.attempt(t, path, body, headers{"Prefer": "wait=1, Respond-Async", "Idempotency-Key": key})
		if accepted.status != http.StatusAccepted || accepted.header.Get("Preference-Applied") != "respond-async" {
			t.Fatalf("%s: %d %s", path, accepted.status, accepted.raw)
		}
		return accepted
	}
	create := fields{"name": "later"}
	first := later("/threads/create", create, "create")
	_, result := ada.finished(t, first.text("task_id"), "succeeded")
	var created struct {
		ThreadID string `json:"thread_id"`
		Code     string
	}
	if err := json.Unmarshal(bytes.Join(result, nil), &created); err != nil || created.Code == "" {
		t.Fatalf("%s: %v", result, err)
	}
	if again := later("/threads/create", create, "create"); again.text("task_id") != first.text("task_id") {
		t.Errorf("the same key gives the task %s, and then %s", first.raw, again.raw)
	}
	now := ada.attempt(t, "/threads/create", create, headers{"Idempotency-Key": "create"})
	if now.status != http.StatusCreated || now.text("thread_id") != created.ThreadID || now.text("code") != created.Code {
		t.Errorf("the same key without the preference: %d %s", now.status, now.raw)
	}
	task, result := ada.finished(t, later("/threads/rename", fields{"thread_id": created.ThreadID, "name": "later"}, "rename").text("task_id"), "failed")
	if !bytes.Contains(bytes.Join(result, nil), []byte(`"name_unchanged"`)) || task.text("message") == "" {
		t.Errorf("a rejected command: %s, %s", task.raw, result)
	}
	if refused := ada.attempt(t, "/threads/rename", fields{"thread_id": created.ThreadID}, headers{"Prefer": "respond-async"}); refused.status != http.StatusUnprocessableEntity {
		t.Errorf("an invalid command: %d %s", refused.status, refused.raw)
	}

	// The read API must show tasks to their creator only.
	var seen struct {
		GetTask struct{ TaskID, Status, CreatedBy string }
		Tasks   struct {
			Edges []struct{ Node struct{ TaskID string } }
		}
	}
	const query = `query($task: ID!, $viewer: ID!) { getTask(taskId: $task, userAccountId: $viewer) { taskId status createdBy }
		tasks(userAccountId: $viewer, first: 1) { edges { node { taskId } } } }`
	testenv.Eventually(t, 30*time.Second, func() error {
		errs, err := ada.query(t.Context(), &seen, query, fields{"task": first.text("task_id"), "viewer": ada.id}, token(first))
		if err != nil || len(errs) > 0 || seen.GetTask.Status != "succeeded" {
			return fmt.Errorf("%+v, %v, %w", seen, errs, err)
		}
		return nil
	})
	if seen.GetTask.TaskID != first.text("task_id") || seen.GetTask.CreatedBy != ada.id || len(seen.Tasks.Edges) != 1 {
		t.Errorf("the read API shows %+v", seen)
	}
	if code := eve.refused(t, query, fields{"task": first.text("task_id"), "viewer": eve.id}, token(first)); code != "NOT_FOUND" {
		t.Errorf("another account gets %s", code)
	}
}
