// extra:whole

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
)

// With TENANTS=registered, a tenant is admitted while it is registered and not suspended. Its data is not lost by a
// suspension.
func TestTheRegistryOfTenants(t *testing.T) {
	i := newIssuer(t)
	w := world{start(t, i.trusted("TENANTS", "registered")), i, map[string]string{
		admin: i.token(t, ada, acme, usual), member: i.token(t, bob, acme, usual),
		operator: i.token(t, dave, acme, usual+" threads:operate"), // the operator's own tenant is not registered
	}}
	registry := func(what string) answer {
		t.Helper()
		return w.do(t, w.tokens[operator], "/tenants/"+what, map[string]any{"tenant_code": acme})
	}
	within := func(about string, check func() error) {
		t.Helper()
		testenv.Eventually(t, 10*time.Second, func() error {
			if err := check(); err != nil {
				return fmt.Errorf("%s: %w", about, err)
			}
			return nil
		})
	}
	create := func() answer {
		return w.do(t, w.tokens[admin], "/threads/create", map[string]any{"name": "tea"})
	}
	list := func() answer { return w.ask(t, w.tokens[admin], `{ threads { edges { node { id } } } }`) }
	refused := func() error {
		if got := create(); got.status != 403 || got.code() != "forbidden" {
			return fmt.Errorf("a command is answered with %s", got.raw)
		}
		if got := list(); got.status != 403 || got.errorCode() != "FORBIDDEN" {
			return fmt.Errorf("a query is answered with %s", got.raw)
		}
		if code := w.firstEvent(t, w.tokens[admin], `subscription { threadChanged(threadId: "`+ada+`") { version } }`); code != "FORBIDDEN" {
			return fmt.Errorf("server-sent events are answered with %q", code)
		}
		if _, err := w.connect(t, map[string]any{"authorization": "Bearer " + w.tokens[admin]}, nil); closeOf(err) != forbiddenSocket {
			return fmt.Errorf("a WebSocket is answered with %d", closeOf(err))
		}
		return nil
	}
	letIn := func() error {
		if got := create(); got.status != 201 {
			return fmt.Errorf("a command is answered with %s", got.raw)
		}
		if got := list(); got.errorCode() != "" {
			return fmt.Errorf("a query is answered with %s", got.raw)
		}
		return nil
	}
	if err := refused(); err != nil {
		t.Fatalf("not registered: %v", err)
	}
	created := registry("create")
	if created.raw != `{"tenant_code":"acme","version":1}`+"\n" {
		t.Fatal(created.raw)
	}
	within("registered", letIn)
	thread := w.newThread(t)

	document := fmt.Sprintf(`subscription { threadChanged(threadId: %q) { version } }`, thread.id)
	conn, err := w.connect(t, map[string]any{"authorization": "Bearer " + w.tokens[member]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan []string, 1)
	begun := make(chan struct{})
	go func() {
		var codes []string
		w.events(t, w.tokens[member], document, func(event, data string) bool {
			if event == "next" {
				if codes = append(codes, answer{raw: data}.errorCode()); len(codes) == 1 {
					close(begun)
				}
			}
			return event != "complete"
		})
		events <- codes
	}()
	<-begun
	subscribe(t, conn, "1", document)
	if first, err := next(t, conn); err != nil || first.Type != "next" {
		t.Fatal(first, err)
	}
	suspended := registry("suspend")
	if suspended.status != 200 || registry("suspend").code() != "tenant_suspended" {
		t.Fatal(suspended.raw)
	}
	var codes []string
	for len(codes) == 0 || codes[len(codes)-1] == "" {
		got, err := next(t, conn)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, answer{raw: string(got.Payload)}.errorCode())
	}
	if last := codes[len(codes)-1]; last != "FORBIDDEN" {
		t.Errorf("the subscription on the WebSocket ends with %q", last)
	}
	if codes := <-events; codes[len(codes)-1] != "FORBIDDEN" {
		t.Errorf("the server-sent events end with %q", codes)
	}
	for got := (frame{}); got.ID != "2"; { // skip messages of the first subscription
		subscribe(t, conn, "2", `{ threads { edges { cursor } } }`)
		if got, err = next(t, conn); err != nil {
			t.Fatal(err)
		}
		if got.ID == "2" && (got.Type != "error" || !strings.Contains(string(got.Payload), "FORBIDDEN")) {
			t.Errorf("another operation on the WebSocket: %s %s", got.Type, got.Payload)
		}
	}
	within("suspended", refused)

	seen := w.ask(t, i.token(t, dave, "", usual+" threads:operate"), `{ tenants { edges { node { code suspended version } } } }`,
		"Consistency-Token", suspended.header.Get("Consistency-Token"))
	if want := `{"data":{"tenants":{"edges":[{"node":{"code":"acme","suspended":true,"version":2}}]}}}`; seen.raw != want {
		t.Errorf("the registry is %s, want %s", seen.raw, want)
	}
	registry("reactivate")
	within("reactivated", letIn)
	if got := list(); !strings.Contains(got.raw, thread.id) {
		t.Errorf("after the suspension the thread is not in %s", got.raw)
	}
}

// The tasks of a suspended tenant stop within two seconds and go on when it is admitted again. An operator can cancel
// them meanwhile.
func TestTasksOfASuspendedTenant(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	const lines = 10_000
	i, folder := newIssuer(t), t.TempDir()
	w := world{start(t, i.trusted("TENANTS", "registered", "DATA_DIR", folder)), i, map[string]string{
		admin: i.token(t, ada, acme, usual), operator: i.token(t, dave, "operators", "threads:operate"),
	}}
	registry := func(what string) {
		t.Helper()
		expectVerdict(t, what, w.do(t, w.tokens[operator], "/tenants/"+what, map[string]any{"tenant_code": acme}), ok)
	}
	registry("create")
	var thread string
	letIn := func() error {
		created := w.do(t, w.tokens[admin], "/threads/create", map[string]any{"name": "tea"})
		if thread = created.text("thread_id"); thread == "" {
			return errors.New(created.raw)
		}
		return nil
	}
	testenv.Eventually(t, 10*time.Second, letIn)
	begin := func() string {
		t.Helper()
		line := fmt.Sprintf(`{"path":"/threads/post_message","body":{"thread_id":%q,"text":"hello"}}`+"\n", thread)
		accepted, err := send(t, http.MethodPost, w.write+"/tasks/import", strings.Repeat(line, lines),
			append(authorization(w.tokens[admin]), "Content-Type", "application/x-ndjson"))
		if err != nil || accepted.status != http.StatusAccepted {
			t.Fatalf("%v, %s", err, accepted.raw)
		}
		return accepted.text("task_id")
	}
	has := func(task, status string, done float64) func() error {
		return func() error {
			got := w.see(t, w.tokens[admin], "/tasks/"+task)
			if reached, _ := got.body["done"].(float64); got.text("status") != status || reached < done {
				return errors.New(got.raw)
			}
			return nil
		}
	}
	events, err := sql.Open("sqlite3", "file:"+filepath.Join(folder, "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Close() }()
	count := func() (n int) {
		t.Helper()
		if err := events.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM events").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	continued, cancelled := begin(), begin()
	for _, task := range []string{continued, cancelled} {
		testenv.Eventually(t, 20*time.Second, has(task, "running", 1))
	}
	registry("suspend")
	testenv.Eventually(t, 30*time.Second, func() error {
		before := count()
		_ = es.Wait(t.Context(), time.Second)
		if now := count(); now > before {
			return fmt.Errorf("%d events, a second later %d", before, now)
		}
		return nil
	})
	for _, task := range []string{continued, cancelled} {
		if done, _ := w.see(t, w.tokens[operator], "/tasks/"+task, "X-Tenant-Code", acme).body["done"].(float64); done >= lines {
			t.Errorf("a task of a suspended tenant went on to its end")
		}
	}
	body := map[string]any{"task_id": cancelled}
	expectVerdict(t, "its creator cancels", w.do(t, w.tokens[admin], "/tasks/cancel", body), denied)
	expectVerdict(t, "an operator cancels in the operators' tenant", w.do(t, w.tokens[operator], "/tasks/cancel", body), noTask)
	expectVerdict(t, "an operator cancels", w.do(t, w.tokens[operator], "/tasks/cancel", body, "X-Tenant-Code", acme), ok)
	registry("reactivate")
	testenv.Eventually(t, 10*time.Second, has(cancelled, "cancelled", 1))
	reached, _ := w.see(t, w.tokens[admin], "/tasks/"+continued).body["done"].(float64)
	testenv.Eventually(t, 20*time.Second, func() error {
		if has(continued, "running", reached+100)() == nil {
			return nil
		}
		return has(continued, "succeeded", lines)()
	})
}

// Without TENANTS=registered, every tenant is admitted, even a suspended one.
func TestTheRegistryIsOffByDefault(t *testing.T) {
	r := start(t, nil)
	for _, path := range []string{"/tenants/create", "/tenants/suspend"} {
		if got := r.do(t, "", path, map[string]any{"executor_id": ada, "tenant_code": acme}); got.status >= 300 {
			t.Fatal(got.raw)
		}
	}
	if got := r.do(t, "", "/threads/create", map[string]any{"executor_id": ada, "name": "tea"}, "X-Tenant-Code", acme); got.status != 201 {
		t.Error(got.raw)
	}
	if !slices.Contains(tenantsOf(t, r), acme) {
		t.Error("the registry does not show the tenant")
	}
}

func tenantsOf(t *testing.T, r *running) (codes []string) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() error {
		got := r.ask(t, "", `{ tenants { edges { node { code } } } }`)
		for _, part := range strings.Split(got.raw, `"code":"`)[1:] {
			code, _, _ := strings.Cut(part, `"`)
			codes = append(codes, code)
		}
		if len(codes) == 0 {
			return fmt.Errorf("no tenants: %s", got.raw)
		}
		return nil
	})
	return codes
}
