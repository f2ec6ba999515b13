package graphql_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// TestWhatIsWrittenTogetherIsAsIfByField runs each query with and without a field that needs a resolver: with one,
// gqlgen resolves field by field. Both answers must be equal.
func TestWhatIsWrittenTogetherIsAsIfByField(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat, empty := w.Thread(`say "hi" \ `+"\t茶", alice), w.Thread("empty", alice)
	for _, text := range []string{"hello", `"quoted" \ back`, "line\nand\ttab", "茶\u2028 </script>"} {
		w.Post(chat, alice, text)
	}
	const resolved, variables = `RESOLVED`, `, "variables": {"yes": true, "no": false}}`
	for _, fields := range []string{
		`id`, `id threadId userAccountId text createdAt updatedAt`, `text id text id`, `b: text a: text __typename t: __typename`,
		`... on Message { id ...Some } text`, `id @skip(if: $yes) text @include(if: $yes)`, `id @include(if: $no)`,
		`...Some @skip(if: $no) ... @include(if: $no) { createdAt }`,
	} {
		for _, list := range []string{
			`getMessages(` + graphqltest.IDs(chat, alice) + `) { ` + fields + ` RESOLVED }`,
			`getMessages(` + graphqltest.IDs(empty, alice) + `) { ` + fields + ` RESOLVED }`,
			`getThread(` + graphqltest.IDs(chat, alice) + `) { name messages(last: 2) { __typename pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor node { ` + fields + ` RESOLVED } } } }`,
			`getThread(` + graphqltest.IDs(empty, alice) + `) { messages { edges { node { ` + fields + ` RESOLVED } } pageInfo { endCursor startCursor } } }`,
			`threads(userAccountId: "` + alice.String() + `") { e: edges { node { id name messages(first: 2) { edges { node { ` + fields + ` RESOLVED } } } } } }`,
		} {
			document := `query($yes: Boolean!, $no: Boolean!) { a: __typename @skip(if: $yes) b: __typename @skip(if: $no) ` + list + ` getMessages2: getMessages(` +
				graphqltest.IDs(chat, alice) + `, first: 1) { ...Some } } fragment Some on Message { updatedAt text }`
			answers := map[bool]string{}
			for _, byField := range []bool{false, true} {
				field := map[bool]string{false: "", true: "sender { id }"}[byField]
				body := `{"query": ` + strconv.Quote(strings.ReplaceAll(document, resolved, field)) + variables
				got := a.Send(t, http.MethodPost, map[string]string{"Content-Type": "application/json", "X-Tenant-Code": "acme"}, body)
				if len(got.Errors) > 0 {
					t.Fatalf("%s: %+v", document, got.Errors)
				}
				answers[byField] = strings.NewReplacer(`,"sender":null`, ``, `"sender":null`, ``).Replace(string(got.Data))
			}
			if answers[false] != answers[true] {
				t.Errorf("%s:\n%s\n%s", document, answers[false], answers[true])
			}
		}
	}
}

// TestAListCostsLittleForEachRow counts allocations, because they are the same on any machine. Field by field there are
// more than a hundred per message.
func TestAListCostsLittleForEachRow(t *testing.T) {
	db := readmodeltest.SQLite(t)
	w, log := db.World(t, ""), slog.New(slog.DiscardHandler)
	reader := readmodeltest.NewReader(t, db.DB)
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	const messages = 100
	for range messages {
		w.Post(chat, alice, "hello")
	}
	queries := query.New(reader, projection.NewWatcher(reader.Versions, log), query.Settings{})
	handler := graphql.NewHandler(t.Context(), queries, graphqltest.Executable(queries), log, graphql.Settings{})
	cost := func(first int) float64 {
		body := `{"query": ` + strconv.Quote(`{ getMessages(`+graphqltest.IDs(chat, alice)+`, first: `+strconv.Itoa(first)+`) { id threadId userAccountId text createdAt updatedAt } }`) + `}`
		return testing.AllocsPerRun(20, func() {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			recorded := httptest.NewRecorder()
			handler.ServeHTTP(recorded, request)
			if found := strings.Count(recorded.Body.String(), `"createdAt"`); found != first {
				t.Fatalf("%d messages: %s", found, recorded.Body)
			}
		})
	}
	if each := (cost(messages) - cost(1)) / (messages - 1); each > 50 {
		t.Errorf("%.0f allocations per message", each)
	}
}
