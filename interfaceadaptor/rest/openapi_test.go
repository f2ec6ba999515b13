package rest

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
)

// contract is what the API promises: by path, the fields of the body and of the answer.
var contract = map[string]struct{ body, answer string }{
	"/threads/create":             {"executor_id name", "code thread_id version"},
	"/threads/rename":             {"executor_id name thread_id", "thread_id version"},
	"/threads/delete":             {"executor_id thread_id", "thread_id version"},
	"/threads/add_member":         {"executor_id role thread_id user_account_id", "member_id thread_id version"},
	"/threads/remove_member":      {"executor_id thread_id user_account_id", "member_id thread_id version"},
	"/threads/change_member_role": {"executor_id role thread_id user_account_id", "member_id thread_id version"},
	"/threads/post_message":       {"executor_id text thread_id", "message_id thread_id version"},
	"/threads/edit_message":       {"executor_id message_id text thread_id", "message_id thread_id version"},
	"/threads/delete_message":     {"executor_id message_id thread_id", "message_id thread_id version"},
	"/threads/snapshot":           {"executor_id thread_id", "snapshot_version thread_id"},
	"/accounts/register":          {"executor_id name", "account_id version"},
	"/accounts/rename":            {"executor_id name", "account_id version"},
	"/accounts/close":             {"executor_id", "account_id version"},
}

// nobodies are services that reject everything.
var nobodies = []Aggregate{Threads(nobody[thread.Command]{}), Accounts(nobody[account.Command]{})}

// tree is a JSON document; at returns a part of it.
type tree map[string]any

func (n tree) at(path ...string) tree {
	for _, name := range path {
		next, _ := n[name].(map[string]any)
		n = next
	}
	return n
}

func served(t *testing.T) tree {
	t.Helper()
	recorder := httptest.NewRecorder()
	serveJSON(func() any { return Document(nobodies, Settings{Source: "write-api"}) })(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	var doc tree
	if err := json.Unmarshal(recorder.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentCoversTheContract(t *testing.T) {
	doc := served(t)
	if version, _ := doc["openapi"].(string); !strings.HasPrefix(version, "3.1.") {
		t.Errorf("OpenAPI %v", doc["openapi"])
	}
	schema := func(content tree, media string) string {
		ref, _ := content.at("content", media, "schema")["$ref"].(string)
		return strings.Join(slices.Sorted(maps.Keys(doc.at("components", "schemas", strings.TrimPrefix(ref, schemaPrefix), "properties"))), " ")
	}
	for path, want := range contract {
		op := doc.at("paths", path, "post")
		success := "200"
		if path == "/threads/create" || path == "/accounts/register" {
			success = "201"
		}
		if got := schema(op.at("requestBody"), MediaJSON); got != want.body {
			t.Errorf("%s accepts %q, want %q", path, got, want.body)
		}
		if got := schema(op.at("responses", success), MediaJSON); got != want.answer {
			t.Errorf("%s answers %q, want %q", path, got, want.answer)
		}
		for _, status := range []string{"400", "413", "415", "422", "500", "503"} {
			if got := schema(op.at("responses", status), MediaProblem); got != "code current_version detail errors status title" {
				t.Errorf("%s with %s answers %q", path, status, got)
			}
		}
		for _, status := range []string{"417", "431"} { // net/http answers without a problem document
			if response := op.at("responses", status); response["description"] == nil || response["content"] != nil {
				t.Errorf("%s with %s answers %v", path, status, response)
			}
		}
		for _, status := range []string{"409", "503"} {
			if op.at("responses", status, "headers", retryAfter) == nil {
				t.Errorf("%s: Retry-After with %s is not described", path, status)
			}
		}
		for _, header := range []string{etag, consistencyToken, idempotentReplayed} {
			if described := op.at("responses", success, "headers", header) != nil; described == (path == "/threads/snapshot") {
				t.Errorf("%s: %s is described: %v", path, header, described)
			}
		}
	}
	if paths := len(doc.at("paths")); paths != len(contract) {
		t.Errorf("%d paths, want the %d of this test's contract: add a new one to it", paths, len(contract))
	}
}

func TestTheDocumentTellsEveryCode(t *testing.T) {
	text, err := json.Marshal(served(t)["paths"])
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"malformed_request", "thread_not_found", "message_not_found", "member_not_found", "not_a_member", "not_an_admin", "not_the_sender",
		"account_not_found", "account_exists", "account_closed",
		"thread_deleted", "already_a_member", "name_unchanged", "role_unchanged", "text_unchanged", "last_admin", "concurrent_update",
		"version_mismatch", "body_too_large", "unsupported_media_type", "invalid_request", "idempotency_key_reused", "store_unavailable", "store_inconsistent",
	} {
		if !strings.Contains(string(text), `"code":"`+code+`"`) {
			t.Errorf("no example of %s", code)
		}
	}
}

// TestTheDocumentIsWhole walks through the document: references must be resolvable, and everything that a reader would
// ask about must be described.
func TestTheDocumentIsWhole(t *testing.T) {
	doc := served(t)
	ids := map[string]bool{}
	var walk func(where string, node any)
	walk = func(where string, node any) {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				walk(where+"[]", item)
			}
		case map[string]any:
			if ref, is := node["$ref"].(string); is && doc.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...) == nil {
				t.Errorf("%s: %s can't be resolved", where, ref)
			}
			if id, is := node["operationId"].(string); is {
				if ids[id] || node["summary"] == nil || node["tags"] == nil {
					t.Errorf("%s: %s is a duplicate or not completely described", where, id)
				}
				ids[id] = true
			}
			_, isParameter := node["in"]
			parent := where[:strings.LastIndex(where, "/")]
			if (isParameter || strings.HasSuffix(parent, "/responses") || strings.HasSuffix(parent, "/headers") ||
				strings.HasSuffix(parent, "/properties")) && node["description"] == nil {
				t.Errorf("%s is not described", where)
			}
			for name, child := range node {
				if name != "examples" {
					walk(where+"/"+strings.ReplaceAll(name, "/", "~1"), child)
				}
			}
		}
	}
	walk("#/", map[string]any(doc))
	if len(ids) != len(contract) {
		t.Errorf("%d operations, want the %d of the contract", len(ids), len(contract))
	}
}

// TestExamplesAreTaken makes each operation's body from the examples of its fields. It must be accepted by the decoder
// and by the operation's schema.
func TestExamplesAreTaken(t *testing.T) {
	doc := Document(nobodies, Settings{Source: "write-api"})
	schemas := doc.Components.Schemas
	for _, op := range slices.Concat(nobodies[0].Operations, nobodies[1].Operations) {
		schema := schemas.Schema(op.Do.body, false, "")
		example := map[string]any{}
		for name, property := range schema.Properties {
			if property.Ref != "" {
				property = schemas.SchemaFromRef(property.Ref)
			}
			if len(property.Examples) == 0 {
				t.Errorf("%s: %s has no example: give the field the tag example", op.Path, name)
				continue
			}
			example[name] = property.Examples[0]
		}
		raw, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		var invalid invalidBody
		if _, err := op.Do.run(t.Context(), Conditions{}, raw); errors.As(err, &invalid) {
			t.Errorf("%s: %s: %v", op.Path, raw, invalid)
		}
		var result huma.ValidateResult
		huma.Validate(schemas, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, example, &result)
		if len(result.Errors) > 0 {
			t.Errorf("%s: %s: %v", op.Path, raw, result.Errors)
		}
	}
	for _, header := range requestHeaders {
		if header.pattern != nil && !header.pattern.MatchString(header.example) {
			t.Errorf("%s: %q is not usable", header.name, header.example)
		}
	}
}
