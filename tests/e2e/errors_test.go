package e2e

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
)

// only returns the variables that the query declares.
func only(variables fields, query string) fields {
	used := maps.Clone(variables)
	maps.DeleteFunc(used, func(name string, _ any) bool { return !strings.Contains(query, "$"+name+":") })
	return used
}

func mustDecode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// Every row of the contract's table of errors is tried on the running program.
func TestEveryErrorOfTheContract(t *testing.T) { eachSystem(t, testEveryErrorOfTheContract) }

func testEveryErrorOfTheContract(t *testing.T, s *system) {
	ada, bob, eve, rival := s.person("acme"), s.person("acme"), s.person("acme"), s.person("rival")
	thread := ada.command(t, "/threads/create", fields{"name": "errors"}).text("thread_id")
	ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
	message := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"}).text("message_id")
	gone := ada.command(t, "/threads/create", fields{"name": "gone"}).text("thread_id")
	ada.command(t, "/threads/delete", fields{"thread_id": gone})
	keyed := headers{"Idempotency-Key": ulid.Make().String()}
	ada.attempt(t, "/threads/post_message", fields{"thread_id": thread, "text": "keyed"}, keyed)
	nobody := ulid.Make().String()

	for _, c := range []struct {
		status int
		code   string
		who    person
		path   string
		body   fields
		extra  headers
	}{
		{400, "malformed_request", ada, "/threads/rename", fields{"thread_id": thread, "name": "x"}, headers{"If-Match": "3"}},
		{400, "malformed_request", ada, "/threads/rename", fields{"thread_id": thread, "name": "x"}, headers{"If-Match": `"three"`}},
		{400, "malformed_request", ada, "/threads/rename", fields{"thread_id": thread, "name": "x"}, headers{"X-Tenant-Code": "ACME"}},
		{400, "malformed_request", ada, "/threads/rename", fields{"thread_id": thread, "name": "x"}, headers{"Idempotency-Key": strings.Repeat("k", 129)}},
		{404, "thread_not_found", ada, "/threads/rename", fields{"thread_id": nobody, "name": "x"}, nil},
		{404, "thread_not_found", rival, "/threads/rename", fields{"thread_id": thread, "name": "x", "executor_id": ada.id}, nil},
		{404, "message_not_found", ada, "/threads/edit_message", fields{"thread_id": thread, "message_id": nobody, "text": "x"}, nil},
		{404, "member_not_found", ada, "/threads/remove_member", fields{"thread_id": thread, "user_account_id": nobody}, nil},
		{403, "not_a_member", eve, "/threads/post_message", fields{"thread_id": thread, "text": "x"}, nil},
		{403, "not_an_admin", bob, "/threads/rename", fields{"thread_id": thread, "name": "x"}, nil},
		{403, "not_the_sender", bob, "/threads/edit_message", fields{"thread_id": thread, "message_id": message, "text": "x"}, nil},
		{409, "thread_deleted", ada, "/threads/rename", fields{"thread_id": gone, "name": "x"}, nil},
		{409, "already_a_member", ada, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Admin"}, nil},
		{409, "name_unchanged", ada, "/threads/rename", fields{"thread_id": thread, "name": " errors "}, nil},
		{409, "role_unchanged", ada, "/threads/change_member_role", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"}, nil},
		{409, "text_unchanged", ada, "/threads/edit_message", fields{"thread_id": thread, "message_id": message, "text": "hello"}, nil},
		{409, "last_admin", ada, "/threads/remove_member", fields{"thread_id": thread, "user_account_id": ada.id}, nil},
		{412, "version_mismatch", ada, "/threads/rename", fields{"thread_id": thread, "name": "x"}, headers{"If-Match": `"1"`}},
		{413, "body_too_large", ada, "/threads/post_message", fields{"thread_id": thread, "text": strings.Repeat("x", 64<<10)}, nil},
		{415, "unsupported_media_type", ada, "/threads/post_message", fields{"thread_id": thread, "text": "x"}, headers{"Content-Type": "text/plain"}},
		{422, "invalid_request", ada, "/threads/post_message", fields{"thread_id": thread, "text": " "}, nil},
		{422, "invalid_request", ada, "/threads/post_message", fields{"thread_id": thread, "text": strings.Repeat("x", 4001)}, nil},
		{422, "invalid_request", ada, "/threads/create", fields{"name": strings.Repeat("茶", 65)}, nil},
		{422, "invalid_request", ada, "/threads/create", fields{"name": "x", "color": "red"}, nil},
		{422, "idempotency_key_reused", ada, "/threads/post_message", fields{"thread_id": thread, "text": "another"}, keyed},
	} {
		t.Run(c.code, func(t *testing.T) {
			a := c.who.attempt(t, c.path, c.body, c.extra)
			if a.status != c.status || a.text("code") != c.code {
				t.Fatalf("got %d %s", a.status, a.raw)
			}
			if a.header.Get("Content-Type") != "application/problem+json" || a.text("title") == "" || a.text("detail") == "" {
				t.Errorf("an incomplete problem: %v %s", a.header, a.raw)
			}
			if current, _ := a.body["current_version"].(float64); c.status == 412 && current != 4 {
				t.Errorf("no current version: %s", a.raw)
			}
		})
	}

	t.Run("not JSON", func(t *testing.T) {
		a, err := send(t.Context(), s.writeURL+"/threads/create", []byte(`{"name":`), nil)
		if err != nil || a.status != 400 || a.text("code") != "malformed_request" {
			t.Errorf("got %d %s, %v", a.status, a.raw, err)
		}
	})
	t.Run("all invalid fields at once", func(t *testing.T) {
		a := ada.attempt(t, "/threads/add_member", fields{"executor_id": "x", "thread_id": 7, "role": "King"}, nil)
		locations := map[string]bool{}
		list, _ := a.body["errors"].([]any)
		for _, item := range list {
			invalid, _ := item.(map[string]any)
			location, _ := invalid["location"].(string)
			locations[location] = true
		}
		for _, location := range []string{"body.executor_id", "body.thread_id", "body.user_account_id", "body.role"} {
			if a.status != 422 || !locations[location] {
				t.Errorf("the rejection %s is not in the answer: %d %s", location, a.status, a.raw)
			}
		}
	})
}

// A tenant must see and change only its own threads, for any account.
func TestTenantsDoNotMeet(t *testing.T) { eachSystem(t, testTenantsDoNotMeet) }

func testTenantsDoNotMeet(t *testing.T, s *system) {
	ada := s.person("acme")
	made := ada.command(t, "/threads/create", fields{"name": "ours"})
	thread := made.text("thread_id")
	posted := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "secret"})
	message := posted.text("message_id")
	if view := ada.view(t, thread, token(posted)); len(view.Messages) != 1 {
		t.Fatalf("the tenant itself sees %+v", view)
	}

	for _, tenant := range []string{"", "rival"} {
		same := s.person(tenant)
		same.id = ada.id // the same user account in another tenant
		for path, body := range map[string]fields{
			"/threads/rename":             {"name": "theirs"},
			"/threads/delete":             {},
			"/threads/add_member":         {"user_account_id": same.id, "role": "Admin"},
			"/threads/remove_member":      {"user_account_id": same.id},
			"/threads/change_member_role": {"user_account_id": same.id, "role": "Member"},
			"/threads/post_message":       {"text": "x"},
			"/threads/edit_message":       {"message_id": message, "text": "x"},
			"/threads/delete_message":     {"message_id": message},
			"/threads/snapshot":           {},
		} {
			body["thread_id"] = thread
			if a := same.attempt(t, path, body, nil); a.status != 404 || a.text("code") != "thread_not_found" {
				t.Errorf("%s by tenant %q: %d %s", path, tenant, a.status, a.raw)
			}
		}
		vars := fields{"thread": thread, "viewer": ada.id, "message": message}
		for _, query := range []string{
			`query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { id } }`,
			`query($thread: ID!, $viewer: ID!) { getMember(threadId: $thread, userAccountId: $viewer) { id } }`,
			`query($thread: ID!, $viewer: ID!) { getMembers(threadId: $thread, userAccountId: $viewer) { id } }`,
			`query($message: ID!, $viewer: ID!) { getMessage(messageId: $message, userAccountId: $viewer) { id } }`,
			`query($thread: ID!, $viewer: ID!) { getMessages(threadId: $thread, userAccountId: $viewer) { id } }`,
		} {
			if code := same.refused(t, query, only(vars, query)); code != "NOT_FOUND" {
				t.Errorf("%s by tenant %q: %s", query, tenant, code)
			}
		}
		var lists struct {
			GetThreads []struct{ ID string }
			Threads    struct{ Edges []any }
		}
		same.ask(t, &lists, `query($viewer: ID!) { getThreads(userAccountId: $viewer) { id } threads(userAccountId: $viewer) { edges { cursor } } }`, fields{"viewer": ada.id})
		if len(lists.GetThreads)+len(lists.Threads.Edges) > 0 {
			t.Errorf("tenant %q is listed %+v", tenant, lists)
		}
	}
}
