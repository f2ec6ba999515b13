package graphql_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/threads/tests/readmodeltest"
)

func TestAnswersWaitForTheirTokens(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		patient, hasty := serve(t, db, settings{wait: 10 * time.Second}), serve(t, db, settings{wait: 50 * time.Millisecond})
		w := db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("before", alice)
		document := `{ getThread(` + ids(chat, alice) + `) { name version } }`
		token := func(version int) string { return fmt.Sprintf("%s:%d", chat, version) }

		if got := hasty.ask(t, asked{tenant: "acme", tokens: token(1) + ", " + token(1)}, document); got.code() != "" {
			t.Errorf("a version that is there: %+v", got.Errors)
		}
		if got := hasty.ask(t, asked{tenant: "acme", tokens: token(1) + "," + token(2)}, document); got.code() != "READ_MODEL_BEHIND" {
			t.Errorf("a version that is not reached: %q", got.code())
		}
		if got := hasty.ask(t, asked{tenant: "globex", tokens: token(1)}, `{ __typename }`); got.code() != "READ_MODEL_BEHIND" {
			t.Errorf("another tenant's thread is visible: %q", got.code())
		}

		answered := make(chan answer, 1)
		go func() { answered <- patient.ask(t, asked{tenant: "acme", tokens: token(2)}, document) }()
		w.Rename(chat, "after")
		sameJSON(t, (<-answered).Data, `{"getThread": {"name": "after", "version": 2}}`)
	})
}
