package graphql_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/readmodeltest"
)

// stall takes the only connection for queries until giveBack is called.
func stall(t *testing.T, db *readmodeltest.Database) (giveBack func()) {
	t.Helper()
	db.Counted.SetMaxOpenConns(1)
	conn, err := db.Counted.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	giveBack = func() { _ = conn.Close() }
	t.Cleanup(giveBack)
	return giveBack
}

func TestAQueryThatTakesTooLongIsAnsweredAlikeOnEveryTransport(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a := serve(t, db, settings{Settings: graphql.Settings{QueryTimeout: 200 * time.Millisecond}})
		w, alice := db.World(t, "acme"), readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		document := `{ getThread(` + ids(chat, alice) + `) { name } }`
		giveBack := stall(t, db)
		posted := a.ask(t, asked{tenant: "acme"}, document)
		if posted.status != http.StatusOK || posted.code() != "UNAVAILABLE" || string(posted.Data) != "null" {
			t.Errorf("POST: %d %+v %s", posted.status, posted.Errors, posted.Data)
		}
		streams := map[string]stream{}
		for name, subscribe := range transports {
			s := subscribe(t, a, asked{tenant: "acme"}, document)
			event, got := s.take(t)
			if event != eventNext || string(got.Data) != "null" || !reflect.DeepEqual(got.Errors, posted.Errors) {
				t.Errorf("%s: %s %s %+v, over POST %+v", name, event, got.Data, got.Errors, posted.Errors)
			}
			if event, _ := s.take(t); event != eventComplete {
				t.Errorf("%s: then %s", name, event)
			}
			streams[name] = s
		}
		giveBack()
		// The timeout must end the operation but not the connection.
		s := streams["WebSocket"].(*clientSocket)
		s.subscribe(t, "2", document)
		if event, got := s.take(t); event != eventNext || got.code() != "" {
			t.Errorf("the next one on the WebSocket: %s %+v", event, got.Errors)
		}
	})
}

func TestASubscriptionOutlastsTheQueryTimeout(t *testing.T) {
	onBoth(t, func(t *testing.T, db *readmodeltest.Database, subscribe func(*testing.T, *testAPI, asked, string) stream) {
		const timeout = 100 * time.Millisecond
		a, w := serve(t, db, settings{Settings: graphql.Settings{QueryTimeout: timeout}}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		s := subscribe(t, a, asked{tenant: "acme"}, follow(chat, alice))
		takeThread(t, s)
		later := time.AfterFunc(3*timeout, func() { w.Rename(chat, "after the timeout") })
		defer later.Stop()
		if name, _ := takeThread(t, s); name != "after the timeout" {
			t.Errorf("got %q", name)
		}
	})
}
