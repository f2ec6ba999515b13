package graphql_test

import (
	"testing"

	"example.com/threads/tests/readmodeltest"
)

func TestWhatIsDeferredComesWithTheRest(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := serve(t, db, settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	document := `query($later: Boolean = true) { getThread(` + ids(chat, alice) + `) {
		name ... @defer(if: $later) { members { edges { node { ...M @defer(label: "m") } } } } } } fragment M on Member { role thread: threadId }`
	want := `{"getThread": {"name": "chat", "members": {"edges": [{"node": {"role": "ADMIN", "thread": "` + chat.String() + `"}}]}}}`
	for range 2 { // the second time the document comes from the cache
		sameJSON(t, a.ask(t, asked{tenant: "acme"}, document).Data, want)
	}
	for name, subscribe := range transports {
		s := subscribe(t, a, asked{tenant: "acme"}, document)
		_, got := s.take(t)
		sameJSON(t, got.Data, want)
		if event, _ := s.take(t); event != eventComplete {
			t.Errorf("%s: then %s", name, event)
		}
	}
}
