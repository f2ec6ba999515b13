package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
)

func TestBadInputIsToldAsSuch(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		message := w.Post(chat, alice, "hello")
		other := w.Thread("other", alice)
		elsewhere := w.Post(other, alice, "hello")
		user, both := `userAccountId: "`+alice.String()+`"`, graphqltest.IDs(chat, alice)

		var cursors struct {
			Threads   connection
			GetThread struct{ Members, Messages connection }
		}
		a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ threads(`+user+`) { edges { cursor } } getThread(`+both+`) { members { edges { cursor } } messages { edges { cursor } } } }`).Into(t, &cursors)
		threadCursor, memberCursor := cursors.Threads.Edges[0].Cursor, cursors.GetThread.Members.Edges[0].Cursor

		before := a.Statements()
		documents := []string{
			`{`, ``, `{ nothing }`, `{ getThread(` + user + `) { id } }`, `{ getThread(threadId: 1.5, ` + user + `) { id } }`, `{ getThreads(` + user + `) }`,
			`query A { __typename } query B { __typename }`, `mutation { x }`, `{ ...missing }`,
			`{ getThread(threadId: "x", ` + user + `) { id } }`,
			`{ getThread(threadId: "", ` + user + `) { id } }`,
			`{ getThreads(userAccountId: "0000") { id } }`,
			`{ getMessage(messageId: "` + chat.String() + `0", ` + user + `) { id } }`,
			`{ getThreads(` + user + `, first: 99999999999999999999) { id } }`,
			`{ getThreads(` + user + `, after: "x") { id } }`,
			`{ threads(` + user + `, after: "x") { pageInfo { endCursor } } }`,
			`{ threads(` + user + `, after: "` + memberCursor + `") { pageInfo { endCursor } } }`,
			`{ threads(` + user + `, after: "` + chat.String() + `") { pageInfo { endCursor } } }`,
			`{ threads(` + user + `, before: "x") { pageInfo { endCursor } } }`,
			`{ threads(` + user + `, before: "` + memberCursor + `") { pageInfo { endCursor } } }`,
			`{ threads(` + user + `, first: 1, last: 1) { pageInfo { endCursor } } }`,
		}
		for _, n := range []int{0, -1, 501, 1 << 30} {
			for _, list := range []string{`getThreads(` + user, `getMembers(` + both, `getMessages(` + both} {
				documents = append(documents, fmt.Sprintf(`{ %s, first: %d) { id } }`, list, n))
			}
			for _, end := range []string{"first", "last"} {
				documents = append(documents, fmt.Sprintf(`{ threads(%s, %s: %d) { pageInfo { endCursor } } }`, user, end, n))
			}
		}
		for _, document := range documents {
			if got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, document); got.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", document, got.Code(), got.Errors)
			}
		}
		if spent := a.Statements() - before; spent != 0 {
			t.Errorf("%d statements were run for operations that must be refused before", spent)
		}

		inside := []string{
			`members(first: 0)`, `members(first: 501)`, `members(after: "x")`, `members(after: "` + threadCursor + `")`,
			`messages(first: 0)`, `messages(last: 0)`, `messages(last: 501)`, `messages(first: 1, last: 1)`,
			`messages(after: "` + memberCursor + `")`, `messages(before: "x")`, `messages(before: "` + message.String() + `")`,
		}
		for _, list := range inside {
			if got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getThread(`+both+`) { `+list+` { pageInfo { endCursor } } } }`); got.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", list, got.Code(), got.Errors)
			}
		}
		// A cursor of another list must be refused.
		foreign := db.World(t, "globex").Thread("theirs", alice)
		for _, list := range []string{
			`getThreads(` + user + `, after: "` + foreign.String() + `")`,
			`getMembers(` + both + `, after: "` + kit.NewID[thread.Member]().String() + `")`,
			`getMessages(` + both + `, after: "` + elsewhere.String() + `")`,
		} {
			if got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ `+list+` { id } }`); got.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", list, got.Code(), got.Errors)
			}
		}
	})
}

func TestUnusableRequests(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a := graphqltest.Serve(t, db, graphqltest.Settings{})
	const good = `{"query": "{ __typename }"}`
	token := kit.NewID[thread.Thread]().String() + ":1"
	for name, test := range map[string]struct {
		method string
		header map[string]string
		body   string
		status int
	}{
		"tenant with capitals":  {"POST", map[string]string{"X-Tenant-Code": "Acme"}, good, http.StatusBadRequest},
		"tenant too long":       {"POST", map[string]string{"X-Tenant-Code": strings.Repeat("a", 33)}, good, http.StatusBadRequest},
		"empty tenant":          {"POST", map[string]string{"X-Tenant-Code": ""}, good, http.StatusBadRequest},
		"empty token":           {"POST", map[string]string{"Consistency-Token": ""}, good, http.StatusBadRequest},
		"broken token":          {"POST", map[string]string{"Consistency-Token": "x"}, good, http.StatusBadRequest},
		"too many tokens":       {"POST", map[string]string{"Consistency-Token": strings.Repeat(token+",", 20) + token}, good, http.StatusBadRequest},
		"not JSON":              {"POST", nil, `query { __typename }`, http.StatusBadRequest},
		"not JSON, as events":   {"POST", map[string]string{"Accept": "text/event-stream"}, `{`, http.StatusBadRequest},
		"a form":                {"POST", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, good, http.StatusUnsupportedMediaType},
		"no type":               {"POST", map[string]string{"Content-Type": ""}, good, http.StatusUnsupportedMediaType},
		"too large":             {"POST", nil, `{"query": "` + strings.Repeat("#", 64<<10) + `"}`, http.StatusRequestEntityTooLarge},
		"another character set": {"POST", map[string]string{"Content-Type": "application/json; charset=iso-8859-1"}, good, http.StatusUnsupportedMediaType},
		"packed":                {"POST", map[string]string{"Content-Encoding": "gzip"}, good, http.StatusUnsupportedMediaType},
		"GET without a query":   {"GET", nil, "", http.StatusBadRequest},
	} {
		header := map[string]string{"Content-Type": "application/json"}
		for key, value := range test.header {
			header[key] = value
		}
		if got := a.Send(t, test.method, header, test.body); got.Status != test.status || got.Code() != "BAD_USER_INPUT" {
			t.Errorf("%s: %d %q, want %d", name, got.Status, got.Code(), test.status)
		}
	}
}

func TestATenantIsNamedOnce(t *testing.T) {
	a := graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL, strings.NewReader(`{"query": "{ __typename }"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "X-Tenant-Code": {"acme", "globex"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("two tenants: %d", response.StatusCode)
	}
}
