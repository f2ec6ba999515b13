package graphql_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

func TestAccounts(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		api, hasty := graphqltest.Serve(t, db, graphqltest.Settings{Wait: 10 * time.Second}), graphqltest.Serve(t, db, graphqltest.Settings{Wait: 50 * time.Millisecond})
		w := db.World(t, "acme")
		ada, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		chat := w.Thread("tea", ada)
		w.Add(chat, bob)
		w.Post(chat, ada, "hello")
		w.Post(chat, bob, "hi")
		w.Account(ada, "Ada")
		db.World(t, "globex").Account(bob, "Another Bob")

		account := fmt.Sprintf(`getAccount(accountId: %q) { id name closed version }`, ada)
		got := api.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ `+account+` }`)
		graphqltest.SameJSON(t, got.Data, fmt.Sprintf(`{"getAccount": {"id": %q, "name": "Ada", "closed": false, "version": 1}}`, ada))
		got = api.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getMembers(`+graphqltest.IDs(chat, bob)+`) { account { name } } getMessages(`+graphqltest.IDs(chat, bob)+`) { sender { name } } }`)
		graphqltest.SameJSON(t, got.Data, `{"getMembers": [{"account": {"name": "Ada"}}, {"account": null}], "getMessages": [{"sender": {"name": "Ada"}}, {"sender": null}]}`)
		got = api.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getMember(`+graphqltest.IDs(chat, ada)+`) { account { name version } } }`)
		graphqltest.SameJSON(t, got.Data, `{"getMember": {"account": {"name": "Ada", "version": 1}}}`)

		for _, tenant := range []string{"", "globex"} {
			if got := api.Ask(t, graphqltest.Asked{Tenant: tenant}, `{ `+account+` }`); got.Code() != "NOT_FOUND" {
				t.Errorf("tenant %q: %q", tenant, got.Code())
			}
		}
		if got := api.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getAccount(accountId: "x") { id } }`); got.Code() != "BAD_USER_INPUT" {
			t.Errorf("a malformed id: %q", got.Code())
		}

		token := func(version int) string { return fmt.Sprintf("account-%s:%d", ada, version) }
		if got := hasty.Ask(t, graphqltest.Asked{Tenant: "acme", Tokens: token(2)}, `{ `+account+` }`); got.Code() != "READ_MODEL_BEHIND" {
			t.Errorf("a version that is not reached: %q", got.Code())
		}
		w.CloseAccount(ada)
		got = api.Ask(t, graphqltest.Asked{Tenant: "acme", Tokens: token(2) + ",thread-" + chat.String() + ":1"}, `{ `+account+` }`)
		graphqltest.SameJSON(t, got.Data, fmt.Sprintf(`{"getAccount": {"id": %q, "name": "Ada", "closed": true, "version": 2}}`, ada))
	})
}

// For any number of members, messages and threads, their accounts must take one statement per level.
func TestAccountsOfAListAreOneStatement(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		api := graphqltest.Serve(t, db, graphqltest.Settings{})
		w := db.World(t, "")
		ada := readmodeltest.NewUser()
		for range 4 {
			chat := w.Thread("tea", ada)
			for range 30 {
				user := readmodeltest.NewUser()
				w.Add(chat, user)
				w.Post(chat, user, "hello")
				w.Account(user, "somebody")
			}
		}
		for document, most := range map[string]int64{
			`{ threads(userAccountId: "` + ada.String() + `") { edges { node { members { edges { node { account { name } } } } } } } }`: 3,
			`{ threads(userAccountId: "` + ada.String() + `") { edges { node {
				members { edges { node { account { name } } } } messages { edges { node { sender { name } } } } } } } }`: 5,
		} {
			before := api.Statements()
			if got := api.Ask(t, graphqltest.Asked{}, document); got.Code() != "" {
				t.Fatalf("%s: %+v", document, got.Errors)
			}
			if spent := api.Statements() - before; spent != most {
				t.Errorf("%d statements, want %d: %s", spent, most, document)
			}
		}
	})
}
