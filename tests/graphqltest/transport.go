package graphqltest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"testing"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql" // extra:erasure|limits {
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror" // extra:erasure|limits }

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// Transport is a way to subscribe.
type Transport struct {
	// Around, unless nil, adds the transport to the endpoint. It sends keep-alives at the interval; 0: the default.
	Around    func(endpoint *graphql.Handler, log *slog.Logger, keepAlive time.Duration) func(http.Handler) http.Handler
	Subscribe func(t *testing.T, a *API, with Asked, document string) Stream
	// Refusal is the event of an operation that was not executed.
	Refusal string
}

// around returns the function that adds the transport to an endpoint; nil: it has the transport.
func (p Transport) around(keepAlive time.Duration) func(*graphql.Handler, *slog.Logger) func(http.Handler) http.Handler {
	if p.Around == nil {
		return nil
	}
	return func(endpoint *graphql.Handler, log *slog.Logger) func(http.Handler) http.Handler {
		return p.Around(endpoint, log, keepAlive)
	}
}

func (p Transport) run(t *testing.T, db *readmodeltest.Database, s graphql.Settings) *API {
	t.Helper()
	return Serve(t, db, Settings{Settings: s, Around: p.around(s.KeepAlive)})
}

// Suite is the contract of every transport with streams, on every database.
func Suite(t *testing.T, p Transport) {
	for name, test := range map[string]func(*testing.T, *readmodeltest.Database, Transport){
		"delivers":                      delivers,
		"ends with the thread":          endsWithTheThread,
		"what can't be followed":        canNotBeFollowed,
		"cut off by the stop":           cutOffByTheStop,
		"shows that it is alive":        showsThatItIsAlive,
		"queries":                       queries,
		"answers of one part":           answersHaveOnePart,
		"numbers":                       numbers,
		"an operation that is too much": asksForTooMuch, // extra:erasure|limits
		"a query that takes too long":   takesTooLong,
		"outlasts the query timeout":    outlastsTheQueryTimeout,
	} {
		t.Run(name, func(t *testing.T) {
			readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) { test(t, db, p) })
		})
	}
	t.Run("may end", func(t *testing.T) { mayEnd(t, p) })
}

// Follow is a subscription to a thread.
func Follow(id thread.ID, user thread.UserID) string {
	return `subscription { threadChanged(` + IDs(id, user) + `) { name version messages(last: 1) { edges { node { text } } } } }`
}

func delivers(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
	chat := w.Thread("first", alice)
	w.Add(chat, bob)
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(chat, bob))

	if name, version := TakeThread(t, s); name != "first" || version != 2 {
		t.Errorf("the first state is %q at version %d", name, version)
	}
	w.Rename(chat, "second")
	if name, version := TakeThread(t, s); name != "second" || version != 3 {
		t.Errorf("the next state is %q at version %d", name, version)
	}
	// States of a burst may be skipped, but versions must rise, and the last version must arrive.
	const burst = 40
	for i := range burst {
		w.Post(chat, alice, fmt.Sprint(i))
	}
	seen := 3
	for seen < 3+burst {
		event, got := s.Take(t)
		if event != EventNext {
			t.Fatal(event)
		}
		var data struct {
			ThreadChanged struct {
				Version  int
				Messages struct {
					Edges []struct{ Node struct{ Text string } }
				}
			}
		}
		got.Into(t, &data)
		state := data.ThreadChanged
		if state.Version <= seen {
			t.Fatalf("version %d after %d", state.Version, seen)
		}
		seen = state.Version
		var latest int
		if _, err := fmt.Sscan(state.Messages.Edges[0].Node.Text, &latest); err != nil || latest < seen-4 {
			t.Errorf("at version %d the last message is %+v", seen, state.Messages)
		}
	}
	w.Remove(chat, bob)
	WantEnd(t, s, "NOT_FOUND")
}

func endsWithTheThread(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(chat, alice))
	TakeThread(t, s)
	w.Delete(chat)
	WantEnd(t, s, "NOT_FOUND")
}

func canNotBeFollowed(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	for name, test := range map[string]struct {
		tenant, document, code string
	}{
		"never a member":  {"acme", Follow(chat, readmodeltest.NewUser()), "NOT_FOUND"},
		"another tenant":  {"globex", Follow(chat, alice), "NOT_FOUND"},
		"no tenant":       {"", Follow(chat, alice), "NOT_FOUND"},
		"nothing there":   {"acme", Follow(kit.NewID[thread.Thread](), alice), "NOT_FOUND"},
		"not an id":       {"acme", `subscription { threadChanged(threadId: "x", userAccountId: "y") { id } }`, "BAD_USER_INPUT"},
		"bad page inside": {"acme", `subscription { threadChanged(` + IDs(chat, alice) + `) { messages(first: 501) { edges { cursor } } } }`, "BAD_USER_INPUT"},
	} {
		s := p.Subscribe(t, a, Asked{Tenant: test.tenant}, test.document)
		if event, got := s.Take(t); event != EventNext || got.Code() != test.code {
			t.Errorf("%s: %s %q", name, event, got.Code())
		}
	}
	// The same thread id exists in two tenants: each subscription must follow its own.
	db.World(t, "globex").ThreadWithID(chat, "theirs", alice)
	ours := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(chat, alice))
	theirs := p.Subscribe(t, a, Asked{Tenant: "globex"}, Follow(chat, alice))
	TakeThread(t, ours)
	if name, _ := TakeThread(t, theirs); name != "theirs" {
		t.Errorf("globex follows %q", name)
	}
	w.Rename(chat, "ours")
	if name, version := TakeThread(t, ours); name != "ours" || version != 2 {
		t.Errorf("acme sees %q at %d", name, version)
	}
	db.World(t, "globex").Delete(chat)
	WantEnd(t, theirs, "NOT_FOUND")
}

func cutOffByTheStop(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(w.Thread("chat", alice), alice))
	TakeThread(t, s)
	a.StopStreams()
	if event, _ := s.Take(t); event != EventCut {
		t.Errorf("the client receives %s, after which clients do not reconnect", event)
	}
}

func showsThatItIsAlive(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{KeepAlive: 300 * time.Millisecond}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(chat, alice))
	TakeThread(t, s)
	quiet := time.AfterFunc(3*time.Second, func() { w.Rename(chat, "after a while") })
	defer quiet.Stop()
	TakeThread(t, s)
	if signs := s.Signs(); signs < 3 {
		t.Errorf("%d keep-alive messages in ten intervals", signs)
	}
}

// queries sends a query over the transport of subscriptions.
func queries(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, `{ getThread(`+IDs(chat, alice)+`) { name } }`)
	event, got := s.Take(t)
	if event != EventNext {
		t.Fatal(event)
	}
	SameJSON(t, got.Data, `{"getThread": {"name": "chat"}}`)
	if event, _ := s.Take(t); event != EventComplete {
		t.Errorf("then %s", event)
	}
}

func answersHaveOnePart(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, document := p.run(t, db, graphql.Settings{}), `{ ... @defer(label: "later") { __typename } }`
	if _, got := p.Subscribe(t, a, Asked{}, document).Take(t); got.Code() != "BAD_USER_INPUT" {
		t.Errorf("%q", got.Code())
	}
	if got := a.Ask(t, Asked{}, document); got.Code() != "BAD_USER_INPUT" {
		t.Errorf("POST: %q", got.Code())
	}
}

// numbers sends variables of type Int, which are the same over every transport.
func numbers(t *testing.T, db *readmodeltest.Database, p Transport) {
	a, w := p.run(t, db, graphql.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	for i := range 3 {
		w.Post(chat, alice, fmt.Sprint(i))
	}
	with := Asked{Tenant: "acme", Variables: map[string]any{"n": 2}}
	document := `query($n: Int!) { getThread(` + IDs(chat, alice) + `) { messages(last: $n) { edges { node { text } } } } }`
	_, got := p.Subscribe(t, a, with, document).Take(t)
	const want = `{"getThread": {"messages": {"edges": [{"node": {"text": "1"}}, {"node": {"text": "2"}}]}}}`
	SameJSON(t, got.Data, want)
	SameJSON(t, a.Ask(t, with, document).Data, want)
}

// refuseAll is an extension of the executor that refuses every operation. // extra:erasure|limits {
type refuseAll struct{}

func (refuseAll) ExtensionName() string { return "refuse all" }

func (refuseAll) Validate(gqlgen.ExecutableSchema) error { return nil }

func (refuseAll) MutateOperationParameters(context.Context, *gqlgen.RawParams) *gqlerror.Error {
	return gqlerror.Wrap(&graphql.Refusal{Code: graphql.CodeTooComplex, Message: "too much"})
}

func asksForTooMuch(t *testing.T, db *readmodeltest.Database, p Transport) {
	a := p.run(t, db, graphql.Settings{Extend: []func(*executor.Executor){func(e *executor.Executor) { e.Use(refuseAll{}) }}})
	p.WantRefusal(t, p.Subscribe(t, a, Asked{}, `{ __typename }`), "TOO_COMPLEX")
	if got := a.Ask(t, Asked{}, `{ __typename }`); got.Code() != "TOO_COMPLEX" {
		t.Errorf("POST: %q", got.Code())
	}
} // extra:erasure|limits }

// WantRefusal takes the only message about a refused operation.
func (p Transport) WantRefusal(t *testing.T, s Stream, code string) {
	t.Helper()
	event, got := s.Take(t)
	if event != p.Refusal || got.Code() != code || got.Data != nil {
		t.Errorf("%s %q %s, want %s %s", event, got.Code(), got.Data, p.Refusal, code)
	}
	if event == EventError {
		return // nothing follows
	}
	if event, _ := s.Take(t); event != EventComplete {
		t.Errorf("%s after the refusal", event)
	}
}

func takesTooLong(t *testing.T, db *readmodeltest.Database, p Transport) {
	a := p.run(t, db, graphql.Settings{QueryTimeout: 200 * time.Millisecond})
	w, alice := db.World(t, "acme"), readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	document := `{ getThread(` + IDs(chat, alice) + `) { name } }`
	db.Counted.SetMaxOpenConns(1)
	conn, err := db.Counted.Conn(t.Context()) // the only connection for queries
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	posted := a.Ask(t, Asked{Tenant: "acme"}, document)
	if posted.Status != http.StatusOK || posted.Code() != "UNAVAILABLE" || string(posted.Data) != "null" {
		t.Errorf("POST: %d %+v %s", posted.Status, posted.Errors, posted.Data)
	}
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, document)
	event, got := s.Take(t)
	if event != EventNext || string(got.Data) != "null" || !reflect.DeepEqual(got.Errors, posted.Errors) {
		t.Errorf("%s %s %+v, over POST %+v", event, got.Data, got.Errors, posted.Errors)
	}
	if event, _ := s.Take(t); event != EventComplete {
		t.Errorf("then %s", event)
	}
}

func outlastsTheQueryTimeout(t *testing.T, db *readmodeltest.Database, p Transport) {
	const timeout = 100 * time.Millisecond
	a, w := p.run(t, db, graphql.Settings{QueryTimeout: timeout}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	s := p.Subscribe(t, a, Asked{Tenant: "acme"}, Follow(chat, alice))
	TakeThread(t, s)
	later := time.AfterFunc(3*timeout, func() { w.Rename(chat, "after the timeout") })
	defer later.Stop()
	if name, _ := TakeThread(t, s); name != "after the timeout" {
		t.Errorf("got %q", name)
	}
}

// ending is a subscription that ends after one state.
type ending struct{}

func (ending) ThreadChanged(ctx context.Context, _, _ string) (<-chan graphql.Thread, error) {
	one := func(yield func(string, error) bool) { yield("the only state", nil) }
	return graphql.Stream(ctx, one, func(name string) graphql.Thread { return graphql.Thread{Thread: query.Thread{Name: name}} }), nil
}

func mayEnd(t *testing.T, p Transport) {
	a := Serve(t, readmodeltest.SQLite(t), Settings{Around: p.around(0), Executable: func(*query.Queries) graphql.Executable {
		type others struct{ generated.Resolvers }
		return generated.Executable(generated.Schema(), struct {
			ending
			others
		}{})
	}})
	s := p.Subscribe(t, a, Asked{}, `subscription { threadChanged(threadId: "x", userAccountId: "y") { name } }`)
	if event, got := s.Take(t); event != EventNext || string(got.Data) != `{"threadChanged":{"name":"the only state"}}` {
		t.Errorf("%s %s", event, got.Data)
	}
	if event, _ := s.Take(t); event != EventComplete {
		t.Errorf("%s after the end", event)
	}
}
