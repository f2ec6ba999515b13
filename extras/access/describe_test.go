// extra:chat

package access_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/rest"
)

// opened returns the access of a program with these settings.
func opened(t *testing.T, env map[string]string) *access.Access {
	t.Helper()
	settings, err := config.Read(func(name string) string { return env[name] }, access.ReadSettings)
	if err != nil {
		t.Fatal(err)
	}
	a, err := access.Open(t.Context(), settings, discard)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var guarded = map[string]string{"AUTH": "oidc", "AUTH_ISSUER": "https://login.example.com/", "AUTH_AUDIENCE": "threads"}

// tree is a JSON document; at returns a part of it.
type tree map[string]any

func (n tree) at(path ...string) tree {
	for _, name := range path {
		next, _ := n[name].(map[string]any)
		n = next
	}
	return n
}

func described(t *testing.T, a *access.Access) (doc tree) {
	t.Helper()
	text, err := json.Marshal(rest.Document([]rest.Aggregate{rest.Threads(nil)}, rest.Settings{
		Source: "write-api", Describe: []func(*huma.OpenAPI){func(doc *huma.OpenAPI) { a.Describe(doc, rest.DescribeProblem) }},
	}))
	if err := errors.Join(err, json.Unmarshal(text, &doc)); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentAsksForTokens(t *testing.T) {
	told := func(doc tree) (required []any, statuses tree) {
		required, _ = doc.at("components", "schemas", "RenameThread")["required"].([]any)
		return required, doc.at("paths", "/threads/rename", "post", "responses")
	}
	open := described(t, opened(t, nil))
	if len(open.at("components", "securitySchemes")) != 0 {
		t.Error("an open API requires tokens")
	}
	required, statuses := told(open)
	if !slices.Contains(required, any("executor_id")) || statuses["401"] != nil || statuses["429"] == nil {
		t.Errorf("open: required is %v, 401 is %v, and 429 %v", required, statuses["401"], statuses["429"])
	}
	closed := described(t, opened(t, guarded))
	if closed.at("components", "securitySchemes", "token")["scheme"] != "bearer" {
		t.Errorf("the security schemes are %v", closed.at("components", "securitySchemes"))
	}
	required, statuses = told(closed)
	if slices.Contains(required, any("executor_id")) || len(required) == 0 {
		t.Errorf("guarded: required is %v", required)
	}
	const media = "application/problem+json"
	problem := statuses.at("422", "content", media, "schema")["$ref"]
	for status, code := range map[string]string{"401": "unauthenticated", "403": "forbidden", "429": "too_many_requests", "503": "issuer_unavailable"} {
		content := statuses.at(status, "content", media)
		if content.at("schema")["$ref"] != problem || content.at("examples", code, "value")["code"] != code {
			t.Errorf("guarded: the answer %s is %v", status, content)
		}
	}
	if closed.at("paths", "/threads/rename", "post")["security"] == nil {
		t.Error("an operation asks for no token")
	}
}

func TestWithTokensTheViewerIsOptional(t *testing.T) {
	for about, env := range map[string]map[string]string{"open": nil, "guarded": guarded} {
		schema := opened(t, env).Schema(generated.Schema())
		argument := schema.Types["Query"].Fields.ForName("threads").Arguments.ForName("userAccountId")
		if argument.Type.NonNull != (env == nil) || schema.Query != schema.Types["Query"] {
			t.Errorf("%s: the viewer is %s", about, argument.Type)
		}
	}
	if !generated.Schema().Query.Fields.ForName("threads").Arguments.ForName("userAccountId").Type.NonNull {
		t.Error("the schema of all has been changed")
	}
}
