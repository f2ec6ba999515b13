package graphql_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// onBoth runs a test on every database with every transport.
func onBoth(t *testing.T, run func(t *testing.T, db *readmodeltest.Database, subscribe func(t *testing.T, a *testAPI, with asked, document string) stream)) {
	t.Helper()
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		for name, subscribe := range transports {
			t.Run(name, func(t *testing.T) { run(t, db, subscribe) })
		}
	})
}

func follow(id thread.ID, user thread.UserID) string {
	return `subscription { threadChanged(` + ids(id, user) + `) { name version messages(last: 1) { edges { node { text } } } } }`
}

func TestASubscriptionDelivers(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		chat := w.Thread("first", alice)
		w.Add(chat, bob)
		s := subscribe(t, a, asked{tenant: "acme"}, follow(chat, bob))

		if name, version := takeThread(t, s); name != "first" || version != 2 {
			t.Errorf("the first state is %q at version %d", name, version)
		}
		w.Rename(chat, "second")
		if name, version := takeThread(t, s); name != "second" || version != 3 {
			t.Errorf("the next state is %q at version %d", name, version)
		}
		// States of a burst may be skipped, but versions must rise, and the last version must arrive.
		const burst = 40
		for i := range burst {
			w.Post(chat, alice, fmt.Sprint(i))
		}
		seen := 3
		for seen < 3+burst {
			event, got := s.take(t)
			if event != eventNext {
				t.Fatal(event)
			}
			var data struct {
				ThreadChanged struct {
					Version  int
					Messages connection
				}
			}
			got.into(t, &data)
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
		wantEnd(t, s, "NOT_FOUND")
	})
}

func TestASubscriptionEndsWithTheThread(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		s := subscribe(t, a, asked{tenant: "acme"}, follow(chat, alice))
		takeThread(t, s)
		w.Delete(chat)
		wantEnd(t, s, "NOT_FOUND")
	})
}

func TestWhatCanNotBeFollowed(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		for name, test := range map[string]struct {
			tenant, document, code string
		}{
			"never a member":  {"acme", follow(chat, readmodeltest.NewUser()), "NOT_FOUND"},
			"another tenant":  {"globex", follow(chat, alice), "NOT_FOUND"},
			"no tenant":       {"", follow(chat, alice), "NOT_FOUND"},
			"nothing there":   {"acme", follow(readmodeltest.NewID[thread.Thread](), alice), "NOT_FOUND"},
			"not an id":       {"acme", `subscription { threadChanged(threadId: "x", userAccountId: "y") { id } }`, "BAD_USER_INPUT"},
			"bad page inside": {"acme", `subscription { threadChanged(` + ids(chat, alice) + `) { messages(first: 501) { edges { cursor } } } }`, "BAD_USER_INPUT"},
		} {
			s := subscribe(t, a, asked{tenant: test.tenant}, test.document)
			if event, got := s.take(t); event != eventNext || got.code() != test.code {
				t.Errorf("%s: %s %q", name, event, got.code())
			}
		}
		// The same thread id exists in two tenants: each subscription must follow its own.
		db.World(t, "globex").ThreadWithID(chat, "theirs", alice)
		ours := subscribe(t, a, asked{tenant: "acme"}, follow(chat, alice))
		theirs := subscribe(t, a, asked{tenant: "globex"}, follow(chat, alice))
		takeThread(t, ours)
		if name, _ := takeThread(t, theirs); name != "theirs" {
			t.Errorf("globex follows %q", name)
		}
		w.Rename(chat, "ours")
		if name, version := takeThread(t, ours); name != "ours" || version != 2 {
			t.Errorf("acme sees %q at %d", name, version)
		}
		db.World(t, "globex").Delete(chat)
		wantEnd(t, theirs, "NOT_FOUND")
	})
}

func TestStreamsAreCutOffByTheStopAndNotCompleted(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		s := subscribe(t, a, asked{tenant: "acme"}, follow(w.Thread("chat", alice), alice))
		takeThread(t, s)
		a.stopStreams()
		if event, _ := s.take(t); event != eventCut {
			t.Errorf("the client receives %s, after which clients do not reconnect", event)
		}
		if socket, ok := s.(*clientSocket); ok && socket.close.Code != 1001 {
			t.Errorf("closed with %d %q", socket.close.Code, socket.close.Reason)
		}
	})
}

func TestStreamsShowThatTheyAreAlive(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{Settings: graphql.Settings{KeepAlive: 30 * time.Millisecond}}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		s := subscribe(t, a, asked{tenant: "acme"}, follow(chat, alice))
		takeThread(t, s)
		quiet := time.AfterFunc(300*time.Millisecond, func() { w.Rename(chat, "after a while") })
		defer quiet.Stop()
		takeThread(t, s)
		signs := 0
		switch s := s.(type) {
		case *clientSocket:
			signs = s.pings
		case *events:
			signs = s.comments
		}
		if signs < 3 {
			t.Errorf("%d keep-alive messages in ten intervals", signs)
		}
	})
}

func TestASubscriptionNeedsAStream(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	got := a.ask(t, asked{tenant: "acme"}, follow(chat, alice))
	if got.code() != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "text/event-stream") {
		t.Errorf("%q %+v %s", got.code(), got.Errors, got.Data)
	}
}

// TestQueriesOverStreams sends queries over the transports of subscriptions.
func TestQueriesOverStreams(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a, w := serve(t, db, settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		s := subscribe(t, a, asked{tenant: "acme"}, `{ getThread(`+ids(chat, alice)+`) { name } }`)
		event, got := s.take(t)
		if event != eventNext {
			t.Fatal(event)
		}
		sameJSON(t, got.Data, `{"getThread": {"name": "chat"}}`)
		if event, _ := s.take(t); event != eventComplete {
			t.Errorf("then %s", event)
		}
	})
}

// refuseAll is a [graphql.Limiter].
type refuseAll struct{}

func (r refuseAll) Apply(e *executor.Executor) { e.Use(r) }

func (refuseAll) ExtensionName() string { return "refuse all" }

func (refuseAll) Validate(gqlgen.ExecutableSchema) error { return nil }

func (refuseAll) MutateOperationParameters(context.Context, *gqlgen.RawParams) *gqlerror.Error {
	return gqlerror.Wrap(&graphql.Refusal{Code: graphql.CodeTooComplex, Message: "too much"})
}

func TestAnOperationThatAsksForTooMuchIsToldSoOnEveryTransport(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		a := serve(t, db, settings{Settings: graphql.Settings{Limit: refuseAll{}}})
		wantRefusal(t, subscribe(t, a, asked{}, `{ __typename }`), "TOO_COMPLEX")
		if got := a.ask(t, asked{}, `{ __typename }`); got.code() != "TOO_COMPLEX" {
			t.Errorf("POST: %q", got.code())
		}
	})
}

// ending is a subscription that ends after one state.
type ending struct{}

func (ending) ThreadChanged(ctx context.Context, _, _ string) (<-chan graphql.Thread, error) {
	one := func(yield func(string, error) bool) { yield("the only state", nil) }
	return graphql.Stream(ctx, one, func(name string) graphql.Thread { return graphql.Thread{Thread: query.Thread{Name: name}} }), nil
}

func TestASubscriptionMayEnd(t *testing.T) {
	for transport, subscribe := range transports {
		t.Run(transport, func(t *testing.T) {
			queries := query.New(nil, nil, query.Settings{})
			type others struct{ generated.Resolvers }
			schema := generated.Executable(generated.Schema(), struct {
				ending
				others
			}{})
			server := httptest.NewServer(graphql.NewHandler(t.Context(), queries, schema, slog.New(slog.DiscardHandler), graphql.Settings{}))
			t.Cleanup(server.Close)
			s := subscribe(t, &testAPI{url: server.URL}, asked{}, `subscription { threadChanged(threadId: "x", userAccountId: "y") { name } }`)
			if event, got := s.take(t); event != eventNext || string(got.Data) != `{"threadChanged":{"name":"the only state"}}` {
				t.Errorf("%s %s", event, got.Data)
			}
			if event, _ := s.take(t); event != eventComplete {
				t.Errorf("%s after the end", event)
			}
		})
	}
}
