package graphql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

const timeFormat = "2006-01-02T15:04:05.000000Z"

func TestThreadsByCode(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w, other := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme"), db.World(t, "globex")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		chat, gone := w.CodedThread("Lunch", "THREAD-000001", alice), w.CodedThread("Gone", "THREAD-000002", alice)
		foreign, former := other.CodedThread("Theirs", "THREAD-000001", alice), w.Thread("Old", alice)
		w.Delete(gone)
		find := func(tenant, code string, viewer thread.UserID) string {
			got := a.Ask(t, graphqltest.Asked{Tenant: tenant}, fmt.Sprintf(`{ getThreadByCode(code: %q, userAccountId: "%s") { id code } }`, code, viewer))
			if code := got.Code(); code != "" {
				return code
			}
			return string(got.Data)
		}
		found := func(id thread.ID) string {
			return fmt.Sprintf(`{"getThreadByCode":{"id":"%s","code":"THREAD-000001"}}`, id)
		}
		for _, test := range []struct {
			about, tenant, code string
			viewer              thread.UserID
			want                string
		}{
			{"a member", "acme", "THREAD-000001", alice, found(chat)},
			{"another tenant's", "globex", "THREAD-000001", alice, found(foreign)},
			{"a stranger", "acme", "THREAD-000001", bob, "NOT_FOUND"},
			{"a deleted thread", "acme", "THREAD-000002", alice, "NOT_FOUND"},
			{"nobody's code", "acme", "THREAD-000003", alice, "NOT_FOUND"},
			{"no code", "acme", "", alice, "BAD_USER_INPUT"},
		} {
			if got := find(test.tenant, test.code, test.viewer); got != test.want {
				t.Errorf("%s: got %s, want %s", test.about, got, test.want)
			}
		}
		if got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getThread(`+graphqltest.IDs(former, alice)+`) { code } }`); string(got.Data) != `{"getThread":{"code":null}}` {
			t.Errorf("a thread without a code: %s", got.Data)
		}
	})
}

func TestTimesHaveMicrosecondsWhateverTheyEndIn(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("Lunch", alice)
		for micros, want := range map[int]string{
			0: "1970-01-01T00:00:00.000000Z", 120_000: "1970-01-01T00:00:00.120000Z", 1_000_010: "1970-01-01T00:00:01.000010Z",
		} {
			if _, err := db.DB.ExecContext(t.Context(), "UPDATE threads SET created_at = ?", micros); err != nil {
				t.Fatal(err)
			}
			got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getThread(`+graphqltest.IDs(chat, alice)+`) { createdAt } }`)
			if data := string(got.Data); data != `{"getThread":{"createdAt":"`+want+`"}}` {
				t.Errorf("got %s, want %s", data, want)
			}
		}
	})
}

func TestEveryQueryAndField(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		chat := w.Thread("Lunch", alice)
		created := w.Now().Format(timeFormat)
		bobsID := w.Add(chat, bob)
		joined := w.Now().Format(timeFormat)
		hello := w.Post(chat, bob, "hello")
		posted := w.Now().Format(timeFormat)

		const fields = `id name ownerId version createdAt updatedAt`
		threadJSON := fmt.Sprintf(`{"id": "%s", "name": "Lunch", "ownerId": "%s", "version": 3, "createdAt": "%s", "updatedAt": "%s"}`,
			chat, alice, created, posted)
		memberJSON := fmt.Sprintf(`{"id": "%s", "threadId": "%s", "userAccountId": "%s", "role": "MEMBER", "createdAt": "%s", "updatedAt": "%s"}`,
			bobsID, chat, bob, joined, joined)
		messageJSON := fmt.Sprintf(`{"id": "%s", "threadId": "%s", "userAccountId": "%s", "text": "hello", "createdAt": "%s", "updatedAt": "%s"}`,
			hello, chat, bob, posted, posted)
		for document, want := range map[string]string{
			`{ getThread(` + graphqltest.IDs(chat, alice) + `) { ` + fields + ` } }`:                                       `{"getThread": ` + threadJSON + `}`,
			`{ getThreads(userAccountId: "` + bob.String() + `") { ` + fields + ` } }`:                                     `{"getThreads": [` + threadJSON + `]}`,
			`{ threads(userAccountId: "` + bob.String() + `") { edges { node { ` + fields + ` } } } }`:                     `{"threads": {"edges": [{"node": ` + threadJSON + `}]}}`,
			`{ getMember(` + graphqltest.IDs(chat, bob) + `) { id threadId userAccountId role createdAt updatedAt } }`:     `{"getMember": ` + memberJSON + `}`,
			`{ getMembers(` + graphqltest.IDs(chat, alice) + `) { role } }`:                                                `{"getMembers": [{"role": "ADMIN"}, {"role": "MEMBER"}]}`,
			`{ getMessages(` + graphqltest.IDs(chat, alice) + `) { id threadId userAccountId text createdAt updatedAt } }`: `{"getMessages": [` + messageJSON + `]}`,
			`{ getMessage(messageId: "` + hello.String() + `", userAccountId: "` + alice.String() + `") { text } }`:        `{"getMessage": {"text": "hello"}}`,
			`{ getThread(` + graphqltest.IDs(chat, alice) + `) { members { edges { node { role } } pageInfo { hasNextPage hasPreviousPage } } } }`: `{"getThread":
				{"members": {"edges": [{"node": {"role": "ADMIN"}}, {"node": {"role": "MEMBER"}}], "pageInfo": {"hasNextPage": false, "hasPreviousPage": false}}}}`,
			`{ getThread(` + graphqltest.IDs(chat, alice) + `) { messages(last: 1) { edges { node { text } } } } }`: `{"getThread": {"messages": {"edges": [{"node": {"text": "hello"}}]}}}`,
		} {
			got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, document)
			if len(got.Errors) > 0 {
				t.Errorf("%s: %+v", document, got.Errors)
				continue
			}
			graphqltest.SameJSON(t, got.Data, want)
		}
		if _, err := time.Parse(time.RFC3339Nano, created); err != nil {
			t.Errorf("%s is not RFC 3339", created)
		}
		// Ids are case-insensitive.
		lower := a.Ask(t, graphqltest.Asked{Tenant: "acme", Variables: map[string]any{"id": strings.ToLower(chat.String()), "user": alice.String()}},
			`query($id: ID!, $user: ID!) { getThread(threadId: $id, userAccountId: $user) { name } }`)
		graphqltest.SameJSON(t, lower.Data, `{"getThread": {"name": "Lunch"}}`)
	})
}

// everyQuery returns queries for everything that a viewer can name.
func everyQuery(chat thread.ID, message thread.MessageID, user thread.UserID) map[string]string {
	return map[string]string{
		"getThread":   `{ getThread(` + graphqltest.IDs(chat, user) + `) { id } }`,
		"getMember":   `{ getMember(` + graphqltest.IDs(chat, user) + `) { id } }`,
		"getMembers":  `{ getMembers(` + graphqltest.IDs(chat, user) + `) { id } }`,
		"getMessages": `{ getMessages(` + graphqltest.IDs(chat, user) + `) { id } }`,
		"getMessage":  `{ getMessage(messageId: "` + message.String() + `", userAccountId: "` + user.String() + `") { id } }`,
	}
}

func TestWhatDoesNotExistForTheViewer(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice, bob, carol := readmodeltest.NewUser(), readmodeltest.NewUser(), readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		w.Add(chat, bob)
		message := w.Post(chat, bob, "hello")
		w.Remove(chat, bob)
		gone := w.Thread("gone", alice)
		goneMessage := w.Post(gone, alice, "hello")
		w.Delete(gone)
		db.World(t, "globex").Thread("another of alice's", alice)

		for name, test := range map[string]struct {
			tenant  string
			queries map[string]string
			user    thread.UserID
			sees    int // the number of threads in the lists
			exist   bool
		}{
			"the member":       {"acme", everyQuery(chat, message, alice), alice, 1, true},
			"another tenant":   {"globex", everyQuery(chat, message, alice), alice, 1, false},
			"no tenant":        {"", everyQuery(chat, message, alice), alice, 0, false},
			"never a member":   {"acme", everyQuery(chat, message, carol), carol, 0, false},
			"a former member":  {"acme", everyQuery(chat, message, bob), bob, 0, false},
			"a deleted thread": {"acme", everyQuery(gone, goneMessage, alice), alice, 1, false},
		} {
			for query, document := range test.queries {
				got := a.Ask(t, graphqltest.Asked{Tenant: test.tenant}, document)
				if want := map[bool]string{true: "", false: "NOT_FOUND"}[test.exist]; got.Code() != want {
					t.Errorf("%s, %s: %q, want %q: %+v", name, query, got.Code(), want, got.Errors)
				}
			}
			var lists struct {
				GetThreads []struct{ Name string }
				Threads    struct{ Edges []struct{ Cursor string } }
			}
			user := test.user.String()
			a.Ask(t, graphqltest.Asked{Tenant: test.tenant}, `{ getThreads(userAccountId: "`+user+`") { name } threads(userAccountId: "`+user+`") { edges { cursor } } }`).Into(t, &lists)
			if len(lists.GetThreads) != test.sees || len(lists.Threads.Edges) != test.sees {
				t.Errorf("%s sees %+v", name, lists)
			}
		}
		unposted := w.Post(chat, alice, "oops")
		w.Unpost(chat, unposted)
		if got := a.Ask(t, graphqltest.Asked{Tenant: "acme"}, everyQuery(chat, unposted, alice)["getMessage"]); got.Code() != "NOT_FOUND" {
			t.Errorf("a deleted message: %q", got.Code())
		}
	})
}
