package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
)

func lines(who string, more headers) headers {
	all := headers{"Content-Type": "application/x-ndjson", "X-Executor-Id": who}
	for name, value := range more {
		all[name] = value
	}
	return all
}

func TestTasksOverREST(t *testing.T) {
	s := newSystem(t)
	thread := s.do(t, "/threads/create", fields{"executor_id": adaID, "name": "tea"}, nil).text("thread_id")
	s.do(t, "/threads/add_member", fields{"executor_id": adaID, "thread_id": thread, "user_account_id": bobID, "role": "Member"}, nil)
	accept := func(a answer) string {
		t.Helper()
		id := a.text("task_id")
		if a.status != http.StatusAccepted || len(a.body) != 1 || a.header.Get("Consistency-Token") != "task-"+id+":1" {
			t.Fatalf("%d %s with %v", a.status, a.raw, a.header)
		}
		return id
	}
	input := `{"path":"/threads/rename","body":{}}` + "\n\n" + `{}`
	id := accept(post(t, s, "/tasks/import", input, lines(adaID, headers{"Idempotency-Key": "one"})))
	if again := accept(post(t, s, "/tasks/import", input, lines(adaID, headers{"Idempotency-Key": "one"}))); again != id {
		t.Errorf("the same key gives %s, and then %s", id, again)
	}
	exporting := accept(post(t, s, "/tasks/export_thread", fields{"executor_id": adaID, "thread_id": thread}, nil))
	running := accept(post(t, s, "/tasks/import", input, lines(adaID, nil)))
	finished := accept(post(t, s, "/tasks/import", "", lines(adaID, nil)))
	parsed, err := ident.Parse[task.Task](finished)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.tasks.Handle(t.Context(), es.Request[task.Order]{Caller: es.Caller{Executor: adaID}, ID: parsed.String(), Command: task.Finish{Status: task.Succeeded}}); err != nil {
		t.Fatal(err)
	}

	queued := s.get(t, "/tasks/"+id, headers{"X-Executor-Id": adaID})
	for name, want := range map[string]any{
		"task_id": id, "kind": "import", "status": "queued", "done": 0.0, "total": 2.0, "rejected": 0.0, "message": "", "created_by": adaID,
	} {
		if got := queued.body[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if _, err := time.Parse(time.RFC3339, queued.text("created_at")); err != nil || len(queued.body) != 10 {
		t.Errorf("%v: %s", err, queued.raw)
	}
	if got := s.get(t, "/tasks/"+finished+"/result", headers{"X-Executor-Id": adaID}); got.status != http.StatusOK || got.raw != "" || got.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("an empty result: %d %q", got.status, got.raw)
	}
	cancelled := post(t, s, "/tasks/cancel", fields{"executor_id": adaID, "task_id": running}, nil)
	if cancelled.status != http.StatusAccepted || s.get(t, "/tasks/"+running, headers{"X-Executor-Id": adaID}).text("status") != "cancelled" {
		t.Errorf("cancel: %d %s", cancelled.status, cancelled.raw)
	}

	for about, test := range map[string]struct {
		got    answer
		status int
		code   string
	}{
		"another account's task":       {s.get(t, "/tasks/"+id, headers{"X-Executor-Id": bobID}), 404, "task_not_found"},
		"another tenant's":             {s.get(t, "/tasks/"+id, headers{"X-Executor-Id": adaID, "X-Tenant-Code": "acme"}), 404, "task_not_found"},
		"another account's result":     {s.get(t, "/tasks/"+finished+"/result", headers{"X-Executor-Id": bobID}), 404, "task_not_found"},
		"no task":                      {s.get(t, "/tasks/"+nobodyID, headers{"X-Executor-Id": adaID}), 404, "task_not_found"},
		"no id":                        {s.get(t, "/tasks/nonsense", headers{"X-Executor-Id": adaID}), 404, "task_not_found"},
		"nobodyID asks":                {s.get(t, "/tasks/"+id, nil), 400, "malformed_request"},
		"a stranger asks":              {s.get(t, "/tasks/"+id, headers{"X-Executor-Id": "me"}), 400, "malformed_request"},
		"not finished":                 {s.get(t, "/tasks/"+exporting+"/result", headers{"X-Executor-Id": adaID}), 409, "task_not_finished"},
		"cancelled by another account": {post(t, s, "/tasks/cancel", fields{"executor_id": bobID, "task_id": id}, nil), 404, "task_not_found"},
		"cancelled at the end":         {post(t, s, "/tasks/cancel", fields{"executor_id": adaID, "task_id": finished}, nil), 409, "task_finished"},
		"cancelled twice":              {post(t, s, "/tasks/cancel", fields{"executor_id": adaID, "task_id": running}, nil), 409, "task_finished"},
		"cancel nothing":               {post(t, s, "/tasks/cancel", fields{"executor_id": adaID, "task_id": nobodyID}, nil), 404, "task_not_found"},
		"export by a member":           {post(t, s, "/tasks/export_thread", fields{"executor_id": bobID, "thread_id": thread}, nil), 403, "not_an_admin"},
		"export by a stranger":         {post(t, s, "/tasks/export_thread", fields{"executor_id": eveID, "thread_id": thread}, nil), 403, "not_a_member"},
		"export nothing":               {post(t, s, "/tasks/export_thread", fields{"executor_id": adaID, "thread_id": nobodyID}, nil), 404, "thread_not_found"},
		"import without an executor":   {post(t, s, "/tasks/import", input, headers{"Content-Type": "application/x-ndjson"}), 400, "malformed_request"},
		"import of JSON":               {post(t, s, "/tasks/import", input, headers{"X-Executor-Id": adaID}), 415, "unsupported_media_type"},
		"a long line":                  {post(t, s, "/tasks/import", strings.Repeat("x", tasks.MaxLine+1), lines(adaID, nil)), 422, "invalid_request"},
		"an import of 16 MiB":          {post(t, s, "/tasks/import", strings.Repeat("\n", tasks.MaxImport+1), lines(adaID, nil)), 413, "body_too_large"},
		"another import":               {post(t, s, "/tasks/import", "{}", lines(adaID, headers{"Idempotency-Key": "one"})), 422, "idempotency_key_reused"},
	} {
		t.Run(about, func(t *testing.T) { test.got.problem(t, test.status, test.code) })
	}
}

// Bodies that no task needs leave nothing behind, and the others have a limit.
func TestUploadsAreBounded(t *testing.T) {
	const size = 60_000
	s := newSystemWith(t, 5*size/2, 7*size/2)
	body := strings.Repeat("{}"+strings.Repeat(" ", 97)+"\n", size/100)
	importing := func(who, key, tenant string) answer {
		t.Helper()
		return post(t, s, "/tasks/import", body, lines(who, headers{"Idempotency-Key": key, "X-Tenant-Code": tenant}))
	}
	accepted := func(a answer) string {
		t.Helper()
		if a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		return a.text("task_id")
	}
	for range 3 {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/tasks/import", io.MultiReader(strings.NewReader(body), breaksOff{func() {}}))
		send(t, s, request, lines(adaID, headers{"X-Tenant-Code": "acme"})).problem(t, http.StatusBadRequest, "malformed_request")
	}
	first := accepted(importing(adaID, "one", "acme"))
	for range 3 {
		if again := accepted(importing(adaID, "one", "acme")); again != first {
			t.Errorf("a repeat is task %s, want %s", again, first)
		}
	}
	accepted(importing(adaID, "two", "acme"))
	importing(adaID, "three", "acme").problem(t, http.StatusConflict, "task_storage_full")
	s.create(t, "acme", strings.Repeat(" ", 40_000)).problem(t, http.StatusConflict, "task_storage_full")
	accepted(importing(bobID, "one", "acme"))
	importing(eveID, "one", "acme").problem(t, http.StatusConflict, "task_storage_full")
	accepted(importing(eveID, "one", "other"))
	if cancelled := post(t, s, "/tasks/cancel", fields{"executor_id": adaID, "task_id": first}, headers{"X-Tenant-Code": "acme"}); cancelled.status != http.StatusAccepted {
		t.Fatal(cancelled.raw)
	}
	accepted(s.create(t, "acme", ""))
	accepted(importing(adaID, "three", "acme"))
}

// create sends a command that becomes a task of ada's.
func (s system) create(t *testing.T, tenant, space string) answer {
	t.Helper()
	return post(t, s, "/threads/create", `{"executor_id":"`+adaID+`","name":"tea"`+space+`}`, headers{"Prefer": "respond-async", "X-Tenant-Code": tenant})
}

// Lines are parsed like requests and rejected for the same reasons.
func TestLines(t *testing.T) {
	s := newSystem(t)
	thread := s.do(t, "/threads/create", fields{"executor_id": adaID, "name": "tea"}, nil).text("thread_id")
	commands, ada := append(s.all, forOperators), user(adaID)
	handle := func(raw string, forOthers bool) (key string, answer string, rejected bool) {
		t.Helper()
		key, body, rejected, err := tasks.Handle(t.Context(), commands, ada, forOthers, raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return key, string(body), rejected
	}
	for raw, code := range map[string]string{
		`nonsense`:                   "malformed_request",
		`[]`:                         "malformed_request",
		`{} {}`:                      "malformed_request",
		"\xff":                       "malformed_request",
		`{}`:                         "invalid_request",
		`{"path":"/threads/rename"}`: "invalid_request",
		`{"path":7,"body":{}}`:       "invalid_request",
		`{"path":"/threads/rename","body":{},"path":"/threads/rename"}`:                                                             "invalid_request",
		`{"path":"/threads/rename","body":{},"if_match":1}`:                                                                         "invalid_request",
		`{"path":"/threads/rename","body":[]}`:                                                                                      "invalid_request",
		`{"path":"/threads/rename","body":{"thread_id":"` + thread + `"}}`:                                                          "invalid_request",
		`{"path":"/threads/nowhere","body":{}}`:                                                                                     "path_not_found",
		`{"path":"/threads/snapshot","body":{"thread_id":"` + thread + `"}}`:                                                        "path_not_found",
		`{"path":"/tasks/cancel","body":{"task_id":"` + thread + `"}}`:                                                              "path_not_found",
		`{"path":"/tenants/suspend","body":{"executor_id":"` + adaID + `"}}`:                                                        "path_not_found",
		`{"path":"/tasks/import","body":{}}`:                                                                                        "path_not_found",
		`{"path":"/threads/rename","body":{"thread_id":"` + thread + `","name":"tea"}}`:                                             "name_unchanged",
		`{"path":"/threads/rename","body":{"thread_id":"` + thread + `","name":"tea","executor_id":"` + bobID + `"}}`:               "forbidden",
		`{"path":"/threads/post_message","body":{"thread_id":"` + thread + `","text":"` + strings.Repeat("x", rest.MaxBody) + `"}}`: "body_too_large",
	} {
		_, answer, rejected := handle(raw, false)
		var problem rest.Problem
		if err := json.Unmarshal([]byte(answer), &problem); err != nil || problem.Code != code || !rejected {
			t.Errorf("%.200s: %s, %v, want %s", raw, answer, err, code)
		}
	}
	if _, answer, _ := handle(`{"path":"/threads/rename","body":{"thread_id":"`+thread+`","name":"x","executor_id":"`+bobID+`"}}`, true); !strings.Contains(answer, "not_a_member") {
		t.Errorf("a token that may act for others: %s", answer)
	}
	// Both forms of the thread's id give the same key; a creation has no key.
	posting := `{"path":"/threads/post_message","body":{"thread_id":"` + thread + `","text":"hello"}}`
	key, first, _ := handle(posting, false)
	other, _, _ := handle(`{"path":"/threads/rename","body":{"thread_id":{"value":"`+strings.ToLower(thread)+`"},"name":"coffee"}}`, false)
	if key == "" || key != other {
		t.Errorf("the keys are %q and %q", key, other)
	}
	if none, created, rejected := handle(`{"path":"/threads/create","body":{"name":"new"}}`, false); none != "" || rejected {
		t.Errorf("a creation: %q, %s", none, created)
	}
	if _, again, rejected := handle(posting, false); rejected || first != again {
		t.Errorf("a line that is handled again: %s, then %s", first, again)
	}
}

// The author of a line is known even if the command is invalid.
func TestAuthorOf(t *testing.T) {
	const ulid, uuid = "01H42KBHCWEBAGHA6WX8RP6X68", "01890535-c59c-72d5-08a8-dcea316374c8"
	for line, want := range map[string]string{
		`{"path":"/threads/create","body":{"executor_id":"` + ulid + `","name":"tea"}}`:                 ulid,
		`{"path":"/nowhere","body":{"txt":"tea","executor_id":{"value":"` + uuid + `"}}}`:               ulid,
		`{"path":"/threads/create","body":{"name":"tea"}}`:                                              "",
		`{"path":"/threads/create","body":{"executor_id":"adaID"}}`:                                     "",
		`{"path":"/threads/create","body":{"executor_id":"` + ulid + `","executor_id":"` + ulid + `"}}`: "",
		`{"path":"/threads/create","body":"` + ulid + `"}`:                                              "",
		`{"body":{"executor_id":"` + ulid + `"}}`:                                                       "",
		`nonsense`: "",
		``:         "",
	} {
		if got := tasks.AuthorOf(line); got != want {
			t.Errorf("%s is in the name of %q, want %q", line, got, want)
		}
	}
}

// An unknown outcome must not count as a rejection.
func TestLinesWhoseOutcomeIsUnknown(t *testing.T) {
	for _, err := range []error{es.ErrUnavailable, es.ErrConcurrentUpdate, context.Canceled, errors.New("anything else")} {
		commands := []rest.Aggregate{rest.Threads(fails{err})}
		if _, answer, _, got := tasks.Handle(t.Context(), commands, ada, false, `{"path":"/threads/create","body":{"name":"new"}}`); !errors.Is(got, err) {
			t.Errorf("%v: %s, %v", err, answer, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"path":"/threads/create","body":{"name":"tea"}}`, `{"path":"/threads/create"}`, `{"path":"\ud83d","body":1}`, `[]`, "", `{"body":{},"body":{}}`,
	} {
		f.Add(seed)
	}
	commands := []rest.Aggregate{rest.Threads(fails{})}
	f.Fuzz(func(t *testing.T, raw string) {
		_ = tasks.AuthorOf(raw)                                             // must not panic
		_ = tasks.AuthorOf(`{"path":"/threads/create","body":` + raw + `}`) // must not panic
		if _, answer, _, err := tasks.Handle(t.Context(), commands, ada, false, raw); err != nil || !json.Valid(answer) {
			t.Errorf("%q: %s, %v", raw, answer, err)
		}
	})
}
