package graphql_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

func TestAnswersWaitForTheirTokens(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		patient, hasty := graphqltest.Serve(t, db, graphqltest.Settings{Wait: 10 * time.Second}), graphqltest.Serve(t, db, graphqltest.Settings{Wait: 50 * time.Millisecond})
		w := db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("before", alice)
		document := `{ getThread(` + graphqltest.IDs(chat, alice) + `) { name version } }`
		token := func(version int) string { return fmt.Sprintf("%s:%d", chat, version) }

		if got := patient.Ask(t, graphqltest.Asked{Tenant: "acme", Tokens: token(1) + ", " + token(1)}, document); got.Code() != "" {
			t.Errorf("a version that is there: %+v", got.Errors)
		}
		if got := hasty.Ask(t, graphqltest.Asked{Tenant: "acme", Tokens: token(1) + "," + token(2)}, document); got.Code() != "READ_MODEL_BEHIND" {
			t.Errorf("a version that is not reached: %q", got.Code())
		}
		if got := hasty.Ask(t, graphqltest.Asked{Tenant: "globex", Tokens: token(1)}, `{ __typename }`); got.Code() != "READ_MODEL_BEHIND" {
			t.Errorf("another tenant's thread is visible: %q", got.Code())
		}

		answered := make(chan graphqltest.Answer, 1)
		go func() { answered <- patient.Ask(t, graphqltest.Asked{Tenant: "acme", Tokens: token(2)}, document) }()
		w.Rename(chat, "after")
		graphqltest.SameJSON(t, (<-answered).Data, `{"getThread": {"name": "after", "version": 2}}`)
	})
}
