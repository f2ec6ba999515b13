package graphql_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/readmodeltest"
)

func TestBadInputIsToldAsSuch(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		message := w.Post(chat, alice, "hello")
		other := w.Thread("other", alice)
		elsewhere := w.Post(other, alice, "hello")
		user, both := `userAccountId: "`+alice.String()+`"`, ids(chat, alice)

		var cursors struct {
			Threads   connection
			GetThread struct{ Members, Messages connection }
		}
		a.ask(t, asked{tenant: "acme"}, `{ threads(`+user+`) { edges { cursor } } getThread(`+both+`) { members { edges { cursor } } messages { edges { cursor } } } }`).into(t, &cursors)
		threadCursor, memberCursor := cursors.Threads.Edges[0].Cursor, cursors.GetThread.Members.Edges[0].Cursor

		before := a.statements()
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
			if got := a.ask(t, asked{tenant: "acme"}, document); got.code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", document, got.code(), got.Errors)
			}
		}
		if spent := a.statements() - before; spent != 0 {
			t.Errorf("%d statements were run for operations that must be refused before", spent)
		}

		inside := []string{
			`members(first: 0)`, `members(first: 501)`, `members(after: "x")`, `members(after: "` + threadCursor + `")`,
			`messages(first: 0)`, `messages(last: 0)`, `messages(last: 501)`, `messages(first: 1, last: 1)`,
			`messages(after: "` + memberCursor + `")`, `messages(before: "x")`, `messages(before: "` + message.String() + `")`,
		}
		for _, list := range inside {
			if got := a.ask(t, asked{tenant: "acme"}, `{ getThread(`+both+`) { `+list+` { pageInfo { endCursor } } } }`); got.code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", list, got.code(), got.Errors)
			}
		}
		// A cursor of another list must be refused.
		foreign := db.World(t, "globex").Thread("theirs", alice)
		for _, list := range []string{
			`getThreads(` + user + `, after: "` + foreign.String() + `")`,
			`getMembers(` + both + `, after: "` + readmodeltest.NewID[thread.Member]().String() + `")`,
			`getMessages(` + both + `, after: "` + elsewhere.String() + `")`,
		} {
			if got := a.ask(t, asked{tenant: "acme"}, `{ `+list+` { id } }`); got.code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %q %+v", list, got.code(), got.Errors)
			}
		}
	})
}

func TestUnusableRequests(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a := serve(t, db, settings{})
	const good = `{"query": "{ __typename }"}`
	token := readmodeltest.NewID[thread.Thread]().String() + ":1"
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
		"a WebSocket by POST":   {"POST", map[string]string{"Upgrade": "websocket", "Sec-WebSocket-Protocol": "graphql-transport-ws"}, good, http.StatusUpgradeRequired},
	} {
		header := map[string]string{"Content-Type": "application/json"}
		for key, value := range test.header {
			header[key] = value
		}
		if got := a.send(t, test.method, header, test.body); got.status != test.status || got.code() != "BAD_USER_INPUT" {
			t.Errorf("%s: %d %q, want %d", name, got.status, got.code(), test.status)
		}
	}
}

func TestATenantIsNamedOnce(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), settings{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url, strings.NewReader(`{"query": "{ __typename }"}`))
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

func TestComplexityIsRefusedBeforeAnythingRuns(t *testing.T) {
	db := readmodeltest.SQLite(t)
	user := readmodeltest.NewUser().String()
	// Two fields in each of seven rows, and the list.
	exact := `{ getThreads(userAccountId: "` + user + `", first: 7) { id name } }`
	nested := `query($n: Int) { threads(userAccountId: "` + user + `", first: $n) { edges { node { messages(last: 10) { edges { node { id } } } } } pageInfo { endCursor } } }`
	// threads + edges*n*(edge + node + messages + edges + 10*(node + id)) + pageInfo + endCursor
	costOfNested := func(n int) int { return 1 + 1 + n*(1+1+1+10*2) + 2 }
	for name, test := range map[string]struct {
		document string
		n        any
		cost     int
	}{
		"list":           {exact, nil, 1 + 7*2},
		"page of 3":      {nested, 3, costOfNested(3)},
		"default page":   {nested, nil, costOfNested(50)},
		"largest page":   {nested, 500, costOfNested(500)},
		"page too large": {nested, 1 << 30, costOfNested(500)},
		"fragments":      {`{ ...F ...F } fragment F on Query { getThreads(userAccountId: "` + user + `", first: 7) { id name } }`, nil, 2 * 15},
	} {
		for limit, refused := range map[int]bool{test.cost: false, test.cost - 1: true} {
			a := serve(t, db, settings{Settings: graphql.Settings{ComplexityLimit: limit}})
			variables := map[string]any{}
			if test.n != nil {
				variables["n"] = test.n
			}
			before := a.statements()
			got := a.ask(t, asked{variables: variables}, test.document)
			if (got.code() == "TOO_COMPLEX") != refused {
				t.Errorf("%s at a limit of %d: %q %+v", name, limit, got.code(), got.Errors)
			}
			if spent := a.statements() - before; refused && spent != 0 {
				t.Errorf("%s: %d statements", name, spent)
			}
		}
	}
}

func TestDocumentsMadeToBeExpensive(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a := serve(t, db, settings{})
	user := readmodeltest.NewUser().String()
	bomb := &strings.Builder{}
	bomb.WriteString(`{ ...F0 }`)
	for i := range 60 { // 2^60 fields
		fmt.Fprintf(bomb, ` fragment F%d on Query { ...F%d ...F%d }`, i, i+1, i+1)
	}
	bomb.WriteString(` fragment F60 on Query { __typename }`)
	many := &strings.Builder{}
	for i := range 101 {
		fmt.Fprintf(many, ` a%d: getThreads(userAccountId: "%s") { id }`, i, user)
	}
	deep := `{ __type(name: "Query") { ` + strings.Repeat(`ofType { `, 30) + `name` + strings.Repeat(` }`, 30) + ` } }`
	started := time.Now()
	for name, document := range map[string]string{"fragments": bomb.String(), "top-level fields": `{ ` + many.String() + ` }`, "depth": deep} {
		if got := a.ask(t, asked{}, document); got.code() != "TOO_COMPLEX" {
			t.Errorf("%s: %q", name, got.code())
		}
	}
	tokens := `{ ` + strings.Repeat(`__typename `, 5500) + `}`
	if got := a.ask(t, asked{}, tokens); got.code() != "BAD_USER_INPUT" {
		t.Errorf("too many tokens: %q", got.code())
	}
	if a.statements() != 0 || time.Since(started) > 5*time.Second {
		t.Errorf("%d statements in %s", a.statements(), time.Since(started))
	}
}

// TestTooManySelectionsAreRefusedOnEveryTransport tries the largest accepted number of repetitions of a field, and one
// more.
func TestTooManySelectionsAreRefusedOnEveryTransport(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	document := func(n int) string {
		return `{ getThread(` + ids(chat, alice) + `) {` + strings.Repeat(` name`, n) + ` } }`
	}
	const most = 311
	for n, want := range map[int]string{most: "", most + 1: "TOO_COMPLEX"} {
		if got := a.ask(t, asked{tenant: "acme"}, document(n)); got.code() != want {
			t.Errorf("POST, %d: %q %+v", n, got.code(), got.Errors)
		}
		byGET := *a
		byGET.url += "?query=" + url.QueryEscape(document(n))
		if got := byGET.send(t, http.MethodGet, map[string]string{"X-Tenant-Code": "acme"}, ""); got.code() != want {
			t.Errorf("GET, %d: %q %+v", n, got.code(), got.Errors)
		}
		for name, subscribe := range transports {
			if _, got := subscribe(t, a, asked{tenant: "acme"}, document(n)).take(t); got.code() != want {
				t.Errorf("%s, %d: %q %+v", name, n, got.code(), got.Errors)
			}
		}
	}
	deep := func(n int) string {
		return `{ __type(name: "x") { ` + strings.Repeat(`ofType { `, n-2) + `name` + strings.Repeat(` }`, n-2) + ` } }`
	}
	for n, want := range map[int]string{20: "", 21: "TOO_COMPLEX"} {
		if got := a.ask(t, asked{}, deep(n)); got.code() != want {
			t.Errorf("depth %d: %q %+v", n, got.code(), got.Errors)
		}
	}
}
