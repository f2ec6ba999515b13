// extra:chat

package erasure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/executor"

	"example.com/threads/domain/thread"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// Sealed texts are opened wherever they are in an answer. Without a key, the whole answer is an error.
func TestAnswersAreOpened(t *testing.T) {
	f, db := newFixture(t), readmodeltest.SQLite(t)
	api := graphqltest.Serve(t, db, graphqltest.Settings{Settings: graphql.Settings{Extend: []func(*executor.Executor){f.Answers}}})
	w, ada, bob := db.World(t, ""), readmodeltest.NewUser(), readmodeltest.NewUser()
	chat := w.Thread(f.seal(ada.String(), "1", `Tea "& cake"`), bob)
	w.Add(chat, ada)
	w.Post(chat, ada, f.seal(ada.String(), "2", words))
	w.Post(chat, bob, "Bob's")
	look := func() graphqltest.Answer {
		return api.Ask(t, graphqltest.Asked{}, `{ getThread(`+graphqltest.IDs(chat, bob)+`) { named: name messages { edges { node { text } } } } }`)
	}
	const opened = `{"getThread": {"named": "Tea \"& cake\"", "messages": {"edges": [
		{"node": {"text": "Ännchen sät Grünkohl \"<&>\" \n 😀"}}, {"node": {"text": "Bob's"}}]}}}`
	graphqltest.SameJSON(t, look().Data, opened)

	f.store.Entries = map[string]erasure.Entry{}
	f.now = f.now.Add(time.Hour)
	if got := look(); got.Status != http.StatusOK || string(got.Data) != "null" || got.Code() != "INTERNAL" {
		t.Errorf("without the keys: %+v", got)
	}
	if err := f.Destroy(t.Context(), w.Tenant, ada.String()); err != nil {
		t.Fatal(err)
	}
	const erased = `{"getThread": {"named": "[erased]", "messages": {"edges": [{"node": {"text": "[erased]"}}, {"node": {"text": "Bob's"}}]}}}`
	graphqltest.SameJSON(t, look().Data, erased)
}

// What a person wrote before ERASURE=on is erased in answers, too.
func TestMessagesWithoutASealAreErasedWithTheirSender(t *testing.T) {
	f, db := newFixture(t), readmodeltest.SQLite(t)
	w, ada, bob := db.World(t, ""), readmodeltest.NewUser(), readmodeltest.NewUser()
	chat := w.Thread("chat", bob)
	w.Add(chat, ada)
	w.Post(chat, ada, "Ada's")
	w.Post(chat, bob, "Bob's")
	if err := f.Destroy(t.Context(), w.Tenant, ada.String()); err != nil {
		t.Fatal(err)
	}
	reader := f.Reader(readmodeltest.NewReader(t, db.DB))
	pages, err := reader.Messages(t.Context(), w.Tenant, []thread.ID{chat}, query.Range{Limit: 10})
	if err != nil || len(pages[chat].Items) != 2 {
		t.Fatalf("%+v, %v", pages, err)
	}
	for _, message := range pages[chat].Items {
		want := map[string]string{ada.String(): "[erased]", bob.String(): "Bob's"}[message.Sender.String()]
		one, err := reader.Message(t.Context(), query.Viewer{User: bob}, message.ID)
		if err != nil || message.Text != want || one.Text != want {
			t.Errorf("%q and %q, want %q, %v", message.Text, one.Text, want, err)
		}
	}
}
