package graphql_test

import (
	"testing"

	"example.com/threads/tests/readmodeltest"
)

func TestAnswersHaveOnePart(t *testing.T) {
	a := serve(t, readmodeltest.SQLite(t), settings{})
	document := `{ ... @defer(label: "later") { __typename } }`
	if got := a.ask(t, asked{}, document); got.code() != "BAD_USER_INPUT" {
		t.Errorf("POST: %q", got.code())
	}
	for name, subscribe := range transports {
		if _, got := subscribe(t, a, asked{}, document).take(t); got.code() != "BAD_USER_INPUT" {
			t.Errorf("%s: %q", name, got.code())
		}
	}
}
