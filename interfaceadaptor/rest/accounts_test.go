package rest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"example.com/threads/es"
)

func TestAnAccountsLife(t *testing.T) {
	s := newSystem(t)
	key, acme := headers{"Idempotency-Key": "k-1"}, headers{"X-Tenant-Code": "acme"}
	as := func(executor string, more fields) fields {
		body := fields{"executor_id": executor}
		for name, value := range more {
			body[name] = value
		}
		return body
	}
	post(t, s, "/accounts/rename", as(ada, fields{"name": "Ada"}), nil).problem(t, http.StatusNotFound, "account_not_found")
	post(t, s, "/accounts/close", as(ada, nil), headers{"If-Match": `"1"`}).problem(t, http.StatusNotFound, "account_not_found")
	post(t, s, "/accounts/register", as(ada, fields{"name": " "}), nil).problem(t, http.StatusUnprocessableEntity, "invalid_request")
	post(t, s, "/accounts/register", as(ada, fields{"name": "Ada"}), headers{"If-Match": `"1"`}).problem(t, http.StatusBadRequest, "malformed_request")

	first := s.do(t, "/accounts/register", as(ada, fields{"name": " Ada "}), key)
	again := s.do(t, "/accounts/register", as(ada, fields{"name": "Ada"}), key)
	if first.text("account_id") != ada || first.body["version"] != 1.0 || again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("registered %s, again %s with %v", first.raw, again.raw, again.header)
	}
	post(t, s, "/accounts/register", as(ada, fields{"name": "Eve"}), key).problem(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	post(t, s, "/accounts/register", as(ada, fields{"name": "Ada"}), nil).problem(t, http.StatusConflict, "account_exists")
	post(t, s, "/accounts/rename", as(ada, fields{"name": "Ada"}), nil).problem(t, http.StatusConflict, "name_unchanged")
	post(t, s, "/accounts/rename", as(bob, fields{"name": "Bob"}), nil).problem(t, http.StatusNotFound, "account_not_found")
	post(t, s, "/accounts/rename", as(ada, fields{"name": "Ada"}), acme).problem(t, http.StatusNotFound, "account_not_found")

	if a := s.do(t, "/accounts/rename", as(ada, fields{"name": "Countess"}), headers{"If-Match": `"1"`}); a.body["version"] != 2.0 {
		t.Errorf("renamed %s", a.raw)
	}
	post(t, s, "/accounts/close", as(ada, nil), headers{"If-Match": `"1"`}).problem(t, http.StatusPreconditionFailed, "version_mismatch")
	// The same user account in another tenant is a different account.
	if a := s.do(t, "/accounts/register", as(ada, fields{"name": "Ada"}), acme); a.body["version"] != 1.0 {
		t.Errorf("another tenant: %s", a.raw)
	}
	closed := s.do(t, "/accounts/close", as(ada, nil), key)
	if again := s.do(t, "/accounts/close", as(ada, nil), key); closed.body["version"] != 3.0 || again.raw != closed.raw {
		t.Errorf("closed %s, again %s", closed.raw, again.raw)
	}
	for path, body := range map[string]fields{"/accounts/rename": {"name": "Ada"}, "/accounts/close": {}} {
		post(t, s, path, as(ada, body), nil).problem(t, http.StatusConflict, "account_closed")
	}
	post(t, s, "/accounts/register", as(ada, fields{"name": "Ada"}), nil).problem(t, http.StatusConflict, "account_exists")
	s.do(t, "/accounts/rename", as(ada, fields{"name": "still here"}), acme)

	account := es.AggregateID{Type: "account", ID: ada}
	var types []string
	for entry, err := range s.gateway.Entries(t.Context(), account, 0, 3) {
		var event struct{ Type, Source string }
		if err == nil {
			err = json.Unmarshal(entry.Payload, &event)
		}
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Type+" by "+event.Source)
	}
	want := []string{"AccountRegistered by write-api /accounts/register", "AccountRenamed by write-api /accounts/rename", "AccountClosed by write-api /accounts/close"}
	for i := range want {
		if len(types) != len(want) || types[i] != want[i] {
			t.Fatalf("in the journal are %q, want %q", types, want)
		}
	}
}
