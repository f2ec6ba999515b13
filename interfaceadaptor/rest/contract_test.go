package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// system is the write side as it runs: this package over the real service on DynamoDB.
type system struct {
	http.Handler
	gateway es.EventPersistenceGateway
}

func newSystem(t *testing.T) system {
	t.Helper()
	tables, _ := dynamodbtest.Tables(t)
	gateway := dynamodbtest.Open(t, tables)
	threads := es.NewService(eventjson.Threads(), gateway, es.Settings{})
	accounts := es.NewService(eventjson.Accounts(), gateway, es.Settings{})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(threads.Close(ctx), accounts.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	coded := chat.WithCodes(threads, es.Sequence{Store: gateway, Kind: chat.CodeKind})
	return system{handlerOf([]rest.Aggregate{rest.Threads(coded), rest.Accounts(accounts)}, io.Discard), gateway}
}

// do sends a command and checks everything that a success must contain.
func (s system) do(t testing.TB, path string, body fields, extra headers) answer {
	t.Helper()
	a := post(t, s, path, body, extra)
	status := http.StatusOK
	token := a.text("thread_id")
	if account := a.text("account_id"); account != "" {
		token = "account-" + account
	}
	if path == "/threads/create" || path == "/accounts/register" {
		status = http.StatusCreated
	}
	version, err := json.Marshal(a.body["version"])
	if a.status != status || err != nil {
		t.Fatalf("%s: %d %s %v", path, a.status, a.raw, err)
	}
	if a.header.Get("ETag") != `"`+string(version)+`"` || a.header.Get("Consistency-Token") != token+":"+string(version) ||
		a.header.Get("X-Request-Id") == "" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: %s with %v", path, a.raw, a.header)
	}
	return a
}

func TestTheContractsErrors(t *testing.T) {
	s := newSystem(t)
	id := s.do(t, "/threads/create", fields{"executor_id": ada, "name": "errors"}, nil).text("thread_id")
	on := func(more fields) fields {
		body := fields{"executor_id": ada, "thread_id": id}
		for name, value := range more {
			body[name] = value
		}
		return body
	}
	s.do(t, "/threads/add_member", on(fields{"user_account_id": bob, "role": "Member"}), nil)
	message := s.do(t, "/threads/post_message", on(fields{"text": "hello"}), nil).text("message_id")
	key := headers{"Idempotency-Key": "errors-1"}
	s.do(t, "/threads/post_message", on(fields{"text": "keyed"}), key)
	gone := s.do(t, "/threads/create", fields{"executor_id": ada, "name": "gone"}, nil).text("thread_id")
	s.do(t, "/threads/delete", fields{"executor_id": ada, "thread_id": gone}, nil)

	for _, test := range []struct {
		status int
		code   string
		path   string
		body   fields
		extra  headers
	}{
		{400, "malformed_request", "/threads/rename", on(fields{"name": "x"}), headers{"If-Match": "4"}},
		{404, "thread_not_found", "/threads/rename", on(fields{"name": "x", "thread_id": nobody}), nil},
		{404, "thread_not_found", "/threads/snapshot", on(fields{"thread_id": nobody}), nil},
		{404, "thread_not_found", "/threads/rename", on(fields{"name": "x", "thread_id": nobody}), headers{"If-Match": `"4"`}},
		{404, "message_not_found", "/threads/edit_message", on(fields{"message_id": nobody, "text": "x"}), nil},
		{404, "message_not_found", "/threads/delete_message", on(fields{"message_id": nobody}), nil},
		{404, "member_not_found", "/threads/remove_member", on(fields{"user_account_id": nobody}), nil},
		{404, "member_not_found", "/threads/change_member_role", on(fields{"user_account_id": nobody, "role": "Admin"}), nil},
		{403, "not_a_member", "/threads/post_message", on(fields{"executor_id": eve, "text": "x"}), nil},
		{403, "not_an_admin", "/threads/delete", on(fields{"executor_id": bob}), nil},
		{403, "not_the_sender", "/threads/edit_message", on(fields{"executor_id": bob, "message_id": message, "text": "x"}), nil},
		{403, "not_the_sender", "/threads/delete_message", on(fields{"executor_id": bob, "message_id": message}), nil},
		{409, "thread_deleted", "/threads/rename", on(fields{"thread_id": gone, "name": "x"}), nil},
		{409, "thread_deleted", "/threads/snapshot", on(fields{"thread_id": gone}), nil},
		{409, "already_a_member", "/threads/add_member", on(fields{"user_account_id": bob, "role": "Admin"}), nil},
		{409, "name_unchanged", "/threads/rename", on(fields{"name": "\terrors "}), nil},
		{409, "role_unchanged", "/threads/change_member_role", on(fields{"user_account_id": bob, "role": "Member"}), nil},
		{409, "text_unchanged", "/threads/edit_message", on(fields{"message_id": message, "text": "hello"}), nil},
		{409, "last_admin", "/threads/remove_member", on(fields{"user_account_id": ada}), nil},
		{409, "last_admin", "/threads/change_member_role", on(fields{"user_account_id": ada, "role": "Member"}), nil},
		{412, "version_mismatch", "/threads/rename", on(fields{"name": "x"}), headers{"If-Match": `"3"`}},
		{422, "invalid_request", "/threads/rename", on(fields{"name": " "}), nil},
		{422, "idempotency_key_reused", "/threads/post_message", on(fields{"text": "another"}), key},
	} {
		t.Run(test.path+" "+test.code, func(t *testing.T) {
			a := post(t, s, test.path, test.body, test.extra)
			a.problem(t, test.status, test.code)
			if current := a.body["current_version"]; test.status == 412 && current != 4.0 {
				t.Errorf("the current version is %v", current)
			}
		})
	}
	if a := s.do(t, "/threads/rename", on(fields{"name": "at last"}), headers{"If-Match": `"4"`}); a.body["version"] != 5.0 {
		t.Errorf("after all rejections the version is %v", a.body["version"])
	}
}

func TestTenantsDoNotMeet(t *testing.T) {
	s := newSystem(t)
	acme := headers{"X-Tenant-Code": "acme"}
	id := s.do(t, "/threads/create", fields{"executor_id": ada, "name": "ours"}, acme).text("thread_id")
	message := s.do(t, "/threads/post_message", fields{"executor_id": ada, "thread_id": id, "text": "secret"}, acme).text("message_id")
	for _, other := range []headers{nil, {"X-Tenant-Code": "rival"}, {"X-Tenant-Code": "acme-"}} {
		for path, body := range map[string]fields{
			"/threads/rename":             {"name": "theirs"},
			"/threads/delete":             {},
			"/threads/add_member":         {"user_account_id": eve, "role": "Admin"},
			"/threads/remove_member":      {"user_account_id": ada},
			"/threads/change_member_role": {"user_account_id": ada, "role": "Member"},
			"/threads/post_message":       {"text": "x"},
			"/threads/edit_message":       {"message_id": message, "text": "x"},
			"/threads/delete_message":     {"message_id": message},
			"/threads/snapshot":           {},
		} {
			body["executor_id"], body["thread_id"] = ada, id
			post(t, s, path, body, other).problem(t, http.StatusNotFound, "thread_not_found")
		}
	}
	if a := s.do(t, "/threads/rename", fields{"executor_id": ada, "thread_id": id, "name": "still ours"}, acme); a.body["version"] != 3.0 {
		t.Errorf("version %v", a.body["version"])
	}
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	s := newSystem(t)
	key := headers{"Idempotency-Key": "k-1"}
	create := fields{"executor_id": ada, "name": "once"}
	first := s.do(t, "/threads/create", create, key)
	id := first.text("thread_id")

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if a := s.do(t, "/threads/create", create, key); a.raw != first.raw || a.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s with %v, first %s", a.raw, a.header, first.raw)
			}
		})
	}
	group.Wait()
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first answer is marked as a repeat")
	}

	// The same key on another path, from another executor or in another tenant is a different key.
	s.do(t, "/threads/post_message", fields{"executor_id": ada, "thread_id": id, "text": "x"}, key)
	for _, other := range []struct {
		body  fields
		extra headers
	}{
		{fields{"executor_id": bob, "name": "once"}, key},
		{create, headers{"Idempotency-Key": "k-1", "X-Tenant-Code": "acme"}},
	} {
		if a := s.do(t, "/threads/create", other.body, other.extra); a.text("thread_id") == id {
			t.Errorf("%v got another's answer", other)
		}
	}
	// A rejection is not remembered: a rejected command can succeed later.
	rename := fields{"executor_id": bob, "thread_id": id, "name": "mine"}
	post(t, s, "/threads/rename", rename, headers{"Idempotency-Key": "k-2"}).problem(t, http.StatusForbidden, "not_a_member")
	s.do(t, "/threads/add_member", fields{"executor_id": ada, "thread_id": id, "user_account_id": bob, "role": "Admin"}, nil)
	s.do(t, "/threads/rename", rename, headers{"Idempotency-Key": "k-2"})
}

func TestEveryCommand(t *testing.T) {
	s := newSystem(t)
	created := s.do(t, "/threads/create", fields{"executor_id": fields{"value": ada}, "name": " first "}, nil)
	on := func(name string, value any, more fields) fields {
		body := fields{"executor_id": strings.ToLower(ada), "thread_id": fields{"value": created.text("thread_id")}, name: value}
		for name, value := range more {
			body[name] = value
		}
		return body
	}
	added := s.do(t, "/threads/add_member", on("user_account_id", bob, fields{"role": "Member"}), nil)
	promoted := s.do(t, "/threads/change_member_role", on("user_account_id", bob, fields{"role": "Admin"}), nil)
	removed := s.do(t, "/threads/remove_member", on("user_account_id", bob, nil), nil)
	if member := added.text("member_id"); member == "" || promoted.text("member_id") != member || removed.text("member_id") != member {
		t.Errorf("members %s %s %s", added.raw, promoted.raw, removed.raw)
	}
	s.do(t, "/threads/rename", on("name", "second", nil), nil)
	posted := s.do(t, "/threads/post_message", on("text", "a\n\tb", nil), nil)
	edited := s.do(t, "/threads/edit_message", on("message_id", posted.text("message_id"), fields{"text": "c"}), nil)
	dropped := s.do(t, "/threads/delete_message", on("message_id", posted.text("message_id"), nil), nil)
	if message := posted.text("message_id"); message == "" || edited.text("message_id") != message || dropped.text("message_id") != message {
		t.Errorf("messages %s %s %s", posted.raw, edited.raw, dropped.raw)
	}
	snapshot := post(t, s, "/threads/snapshot", fields{"executor_id": ada, "thread_id": created.text("thread_id")}, nil)
	if snapshot.status != http.StatusOK || snapshot.body["snapshot_version"] != 8.0 || snapshot.header.Get("ETag") != "" {
		t.Errorf("%d %s %v", snapshot.status, snapshot.raw, snapshot.header)
	}
	deleted := s.do(t, "/threads/delete", fields{"executor_id": ada, "thread_id": created.text("thread_id")}, nil)
	if deleted.body["version"] != 9.0 {
		t.Errorf("after nine commands: %s", deleted.raw)
	}
}

// TestWhoAskedIsOnTheEvent reads from the journal what the headers and the connection contained.
func TestWhoAskedIsOnTheEvent(t *testing.T) {
	s := newSystem(t)
	for _, test := range []struct {
		extra headers
		want  map[string]string
	}{
		{
			headers{"X-Tenant-Code": "acme", "X-Request-Id": "r-1", "X-Correlation-Id": "c-1", "X-Forwarded-For": "198.51.100.9"},
			map[string]string{"tenant_code": "acme", "request_id": "r-1", "correlation_id": "c-1", "source": "write-api /threads/create", "client_ip": "192.0.2.1"},
		},
		{
			headers{"X-Request-Id": "r-2"},
			map[string]string{"tenant_code": "", "request_id": "r-2", "correlation_id": "r-2"},
		},
	} {
		a := s.do(t, "/threads/create", fields{"executor_id": ada, "name": "x"}, test.extra)
		aggregate := es.AggregateID{Tenant: es.Tenant(test.want["tenant_code"]), Type: "thread", ID: a.text("thread_id")}
		for entry, err := range s.gateway.Entries(t.Context(), aggregate, 0, 1) {
			var event fields
			if err == nil {
				err = json.Unmarshal(entry.Payload, &event)
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range test.want {
				if got, _ := event[name].(string); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		}
	}
}
