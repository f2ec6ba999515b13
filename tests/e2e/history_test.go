package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"
)

// historyPage is an answer of threadHistory or accountHistory.
type historyPage struct{ ThreadHistory, AccountHistory history }

type history struct {
	Edges []struct {
		Cursor string
		Node   struct {
			SeqNr                                            int
			EventID, Type, ExecutorID, Source                string
			CommandID, CorrelationID, CausationID, RequestID string
			Data                                             struct {
				Name    string
				Message struct {
					ID   struct{ Value string }
					Text string
				}
			}
		}
	}
	PageInfo struct{ HasNextPage, HasPreviousPage bool }
}

const historyQuery = `query($t: ID!, $u: ID!, $first: Int, $after: String, $last: Int, $before: String, $upTo: Int) {
	threadHistory(threadId: $t, userAccountId: $u, first: $first, after: $after, last: $last, before: $before, upTo: $upTo) {
		edges { cursor node { seqNr eventId type occurredAt executorId commandId correlationId causationId source requestId data } }
		pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
	}
}`

const atQuery = `query($t: ID!, $u: ID!, $v: Int!, $first: Int, $after: ID) {
	threadAt(threadId: $t, userAccountId: $u, version: $v) {
		version name deleted members { userAccountId role createdAt } messages(first: $first, after: $after) { id userAccountId text createdAt updatedAt }
	}
}`

// threadAt is an answer of threadAt.
type threadAt struct {
	ThreadAt struct {
		Version  int
		Name     string
		Deleted  bool
		Members  []struct{ UserAccountID, Role, CreatedAt string }
		Messages []struct{ ID, UserAccountID, Text, CreatedAt, UpdatedAt string }
	}
}

// Admins see what was edited and deleted. History comes from the journal, so it is complete at once, without a token.
func TestHistory(t *testing.T) {
	eachSystem(t, func(t *testing.T, s *system) {
		ada, bob, eve := s.person("acme"), s.person("acme"), s.person("acme")
		stranger := s.person("other")
		stranger.id = ada.id
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		in := func(p person, path string, body fields) answer {
			body["thread_id"] = thread
			return p.command(t, path, body)
		}
		in(ada, "/threads/add_member", fields{"user_account_id": bob.id, "role": "Member"})
		message := in(bob, "/threads/post_message", fields{"text": "first"}).text("message_id")
		for i := range 20 { // enough for a snapshot
			in(bob, "/threads/post_message", fields{"text": fmt.Sprintf("text %d", i)})
		}
		in(bob, "/threads/edit_message", fields{"message_id": message, "text": "second"}) // 24
		in(bob, "/threads/delete_message", fields{"message_id": message})
		in(ada, "/threads/rename", fields{"name": "coffee"})
		in(ada, "/threads/delete", fields{}) // 27

		asks := func(p person, more fields) (page historyPage) {
			t.Helper()
			more["t"], more["u"] = thread, p.id
			p.ask(t, &page, historyQuery, more)
			return page
		}
		var numbers []int
		for after := any(nil); ; {
			page := asks(ada, fields{"first": 10, "after": after}).ThreadHistory
			for _, edge := range page.Edges {
				numbers, after = append(numbers, edge.Node.SeqNr), edge.Cursor
				if edge.Node.EventID == "" || edge.Node.CommandID == "" || edge.Node.CorrelationID == "" || edge.Node.RequestID == "" || edge.Node.Source == "" {
					t.Errorf("%+v", edge.Node)
				}
			}
			if !page.PageInfo.HasNextPage {
				break
			}
		}
		if want := upTo(27); !slices.Equal(numbers, want) {
			t.Errorf("events %v", numbers)
		}
		numbers = nil
		for before := any(nil); ; { // backwards, from the number of an event
			page := asks(ada, fields{"last": 3, "before": before, "upTo": 7}).ThreadHistory
			for _, edge := range slices.Backward(page.Edges) {
				numbers, before = append(numbers, edge.Node.SeqNr), edge.Cursor
			}
			if !page.PageInfo.HasPreviousPage || len(numbers) > 7 {
				break
			}
		}
		if slices.Reverse(numbers); !slices.Equal(numbers, upTo(7)) {
			t.Errorf("events %v up to the seventh", numbers)
		}
		last := asks(ada, fields{"last": 4}).ThreadHistory
		if edited, renamed := last.Edges[0].Node, last.Edges[2].Node; edited.Type != "ThreadMessageEdited" || edited.Data.Message.Text != "second" || edited.ExecutorID != bob.id ||
			renamed.Type != "ThreadRenamed" || renamed.Data.Name != "coffee" || !last.PageInfo.HasPreviousPage || last.PageInfo.HasNextPage {
			t.Errorf("the last ones: %+v", last)
		}

		at := func(version int, more fields) (was threadAt) {
			t.Helper()
			more["t"], more["u"], more["v"] = thread, ada.id, version
			ada.ask(t, &was, atQuery, more)
			return was
		}
		if was := at(23, fields{}).ThreadAt; was.Name != "tea" || was.Deleted || len(was.Members) != 2 || was.Members[1].Role != "MEMBER" || len(was.Messages) != 21 ||
			was.Messages[0].Text != "first" || was.Messages[0].CreatedAt != was.Messages[0].UpdatedAt {
			t.Errorf("before the edit: %+v", was)
		}
		if was := at(24, fields{"first": 1}).ThreadAt; len(was.Messages) != 1 || was.Messages[0].Text != "second" || was.Messages[0].CreatedAt >= was.Messages[0].UpdatedAt {
			t.Errorf("after the edit: %+v", was)
		}
		if was := at(24, fields{"first": 2, "after": message}).ThreadAt; len(was.Messages) != 2 || was.Messages[0].Text != "text 0" {
			t.Errorf("after a message: %+v", was)
		}
		if was := at(26, fields{}).ThreadAt; was.Name != "coffee" || len(was.Messages) != 20 || was.Messages[0].Text != "text 0" {
			t.Errorf("before the deletion: %+v", was)
		}
		if was := at(27, fields{}).ThreadAt; !was.Deleted || len(was.Members)+len(was.Messages) > 0 {
			t.Errorf("deleted: %+v", was)
		}

		for about, c := range map[string]struct {
			who  person
			want string
		}{"a Member": {bob, "FORBIDDEN"}, "a stranger": {eve, "NOT_FOUND"}, "another tenant": {stranger, "NOT_FOUND"}} {
			for _, query := range []string{historyQuery, atQuery} {
				if code := c.who.refused(t, query, fields{"t": thread, "u": c.who.id, "v": 1}); code != c.want {
					t.Errorf("%s: %s, want %s", about, code, c.want)
				}
			}
		}
		for _, wrong := range []fields{{"v": 0}, {"v": 28}, {"v": -1}, {"v": 5, "after": message + "X"}, {"v": 25, "after": message}, {"v": 5, "after": ulid.Make().String()}} {
			wrong["t"], wrong["u"] = thread, ada.id
			if code := ada.refused(t, atQuery, wrong); code != "BAD_USER_INPUT" {
				t.Errorf("%v: %s", wrong, code)
			}
		}
		if code := ada.refused(t, historyQuery, fields{"t": thread, "u": ada.id, "first": 1, "last": 1}); code != "BAD_USER_INPUT" {
			t.Errorf("both ways: %s", code)
		}
	})
}

// What a closed account leads to can be followed from the account's event to those of threads.
func TestAccountHistory(t *testing.T) {
	const query = `query($a: ID!, $first: Int, $last: Int) { accountHistory(accountId: $a, first: $first, last: $last) {
		edges { cursor node { seqNr eventId type correlationId data } } pageInfo { hasNextPage hasPreviousPage } } }`
	eachSystem(t, func(t *testing.T, s *system) {
		ada, bob := s.person("acme"), s.person("acme")
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
		ada.sees(t, thread, ada.id+" ADMIN", bob.id+" MEMBER")
		asks := func(arguments fields) history {
			t.Helper()
			arguments["a"] = bob.id
			var page historyPage
			bob.ask(t, &page, query, arguments)
			return page.AccountHistory
		}
		if code := bob.refused(t, query, fields{"a": bob.id}); code != "NOT_FOUND" {
			t.Errorf("before there is an account: %s", code)
		}
		bob.command(t, "/accounts/register", fields{"name": "Bob"})
		bob.command(t, "/accounts/rename", fields{"name": "Robert"})
		bob.command(t, "/accounts/close", nil)
		all := asks(fields{}).Edges
		if len(all) != 3 || all[1].Node.Type != "AccountRenamed" || all[1].Node.Data.Name != "Robert" || all[2].Node.Type != "AccountClosed" || all[2].Node.SeqNr != 3 {
			t.Fatalf("%+v", all)
		}
		if page := asks(fields{"last": 2}); len(page.Edges) != 2 || page.Edges[0].Node != all[1].Node || !page.PageInfo.HasPreviousPage || page.PageInfo.HasNextPage {
			t.Errorf("the last two: %+v", page)
		}
		if code := ada.of("globex").refused(t, query, fields{"a": bob.id}); code != "NOT_FOUND" {
			t.Errorf("from another tenant: %s", code)
		}

		ada.sees(t, thread, ada.id+" ADMIN")
		var page historyPage
		ada.ask(t, &page, historyQuery, fields{"t": thread, "u": ada.id})
		closed, left := all[2].Node, page.ThreadHistory.Edges[2].Node
		if left.Type != "ThreadMemberRemoved" || left.CausationID != closed.EventID || left.CorrelationID != closed.CorrelationID || left.ExecutorID != bob.id {
			t.Errorf("%+v led to %+v", closed, left)
		}
	})
}

func upTo(last int) (numbers []int) {
	for i := range last {
		numbers = append(numbers, i+1)
	}
	return numbers
}

// Every row must name who created it and who changed it last.
func TestAudit(t *testing.T) {
	eachSystem(t, func(t *testing.T, s *system) {
		ada, bob := s.person("acme"), s.person("acme")
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Admin"})
		bob.command(t, "/threads/change_member_role", fields{"thread_id": thread, "user_account_id": ada.id, "role": "Member"})
		posted := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"})
		type by struct{ CreatedBy, UpdatedBy string }
		var got struct {
			GetThread  by
			GetMembers []by
			GetMessage by
		}
		ada.ask(t, &got, `query($t: ID!, $u: ID!, $m: ID!) {
			getThread(threadId: $t, userAccountId: $u) { createdBy updatedBy }
			getMembers(threadId: $t, userAccountId: $u) { createdBy updatedBy }
			getMessage(messageId: $m, userAccountId: $u) { createdBy updatedBy }
		}`, fields{"t": thread, "u": ada.id, "m": posted.text("message_id")}, token(posted))
		if got.GetThread != (by{ada.id, ada.id}) || got.GetMessage != (by{ada.id, ada.id}) ||
			!slices.Equal(got.GetMembers, []by{{ada.id, bob.id}, {ada.id, ada.id}}) {
			t.Errorf("%+v", got)
		}
	})
}
