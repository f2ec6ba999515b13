package graphql_test

import (
	"strings"
	"testing"

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
