package graphql_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

// TestEvents runs the contract of streams on server-sent events.
func TestEvents(t *testing.T) {
	graphqltest.Suite(t, graphqltest.Transport{Subscribe: graphqltest.SubscribeByEvents, Refusal: graphqltest.EventNext})
}

func TestASubscriptionNeedsAStream(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, graphqltest.Follow(chat, alice))
	if got.Code() != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "text/event-stream") {
		t.Errorf("%q %+v %s", got.Code(), got.Errors, got.Data)
	}
}

// A client that does not read must not get, with a change that waited for it, what was posted after it was put out.
func TestASlowSubscriberWhoIsPutOutSeesNothingMore(t *testing.T) {
	db := readmodeltest.SQLite(t)
	reached, release := make(chan struct{}), make(chan struct{})
	a := graphqltest.Serve(t, db, graphqltest.Settings{Around: func(*graphql.Handler, *slog.Logger) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(&stuck{ResponseWriter: w, at: "first", reached: reached, release: release}, r)
			})
		}
	}})
	w := db.World(t, "acme")
	alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
	chat := w.Thread("first", alice)
	w.Add(chat, bob)
	events := make(chan graphqltest.Stream, 1)
	go func() {
		events <- graphqltest.SubscribeByEvents(t, a, graphqltest.Asked{Tenant: "acme"}, graphqltest.Follow(chat, bob))
	}()
	<-reached
	before := a.Statements()
	w.Rename(chat, "second")
	testenv.Eventually(t, 10*time.Second, func() error {
		if a.Statements() == before {
			return errors.New("the change has not been read yet")
		}
		return nil
	})
	<-time.After(100 * time.Millisecond) // the statement is done
	w.Remove(chat, bob)
	w.Post(chat, alice, "secret")
	close(release)
	stream := <-events
	for event := ""; event != graphqltest.EventComplete; {
		var got graphqltest.Answer
		if event, got = stream.Take(t); strings.Contains(string(got.Data), "secret") {
			t.Errorf("%s: %s", event, got.Data)
		}
	}
}

// stuck is a client that stops reading at a text until it is released.
type stuck struct {
	http.ResponseWriter
	at               string
	reached, release chan struct{}
}

func (s *stuck) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *stuck) Write(text []byte) (int, error) {
	if s.at != "" && strings.Contains(string(text), s.at) {
		s.at = ""
		close(s.reached)
		<-s.release
	}
	return s.ResponseWriter.Write(text)
}
