package e2e

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	wholeThread  = `query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) ` + threadFields + ` }`
	threadFields = `{
		name ownerId version
		members { edges { node { id userAccountId role } } }
		messages(first: 500) { edges { node { id userAccountId text } } }
	}`
)

const mostMessages = 500 // that threadFields asks for

type memberView struct{ ID, UserAccountID, Role string }

type messageView struct{ ID, UserAccountID, Text string }

// threadView is a thread as a viewer sees it.
type threadView struct {
	Name, OwnerID string
	Version       int
	Members       []memberView
	Messages      []messageView
}

// threadData is a thread in an answer.
type threadData struct {
	Name, OwnerID string
	Version       int
	Members       struct{ Edges []struct{ Node memberView } }
	Messages      struct{ Edges []struct{ Node messageView } }
}

func (d threadData) view() threadView {
	view := threadView{Name: d.Name, OwnerID: d.OwnerID, Version: d.Version}
	for _, edge := range d.Members.Edges {
		view.Members = append(view.Members, edge.Node)
	}
	for _, edge := range d.Messages.Edges {
		view.Messages = append(view.Messages, edge.Node)
	}
	return view
}

func (p person) view(t *testing.T, threadID string, tokens ...string) threadView {
	t.Helper()
	var data struct{ GetThread threadData }
	p.ask(t, &data, wholeThread, fields{"thread": threadID, "viewer": p.id}, tokens...)
	return data.GetThread.view()
}

// tryView queries a thread. err is an error of the connection.
func (p person) tryView(ctx context.Context, threadID string, tokens ...string) (threadView, []queryError, error) {
	var data struct{ GetThread threadData }
	errs, err := p.query(ctx, &data, wholeThread, fields{"thread": threadID, "viewer": p.id}, tokens...)
	return data.GetThread.view(), errs, err
}

// A thread's whole life: every command, and what a viewer sees after it.
func TestEveryCommandIsSeenByQueries(t *testing.T) { eachSystem(t, testEveryCommandIsSeenByQueries) }

func testEveryCommandIsSeenByQueries(t *testing.T, s *system) {
	ada, bob := s.person(""), s.person("")

	created := ada.command(t, "/threads/create", fields{"name": " tea "})
	thread := created.text("thread_id")
	if created.status != 201 || created.version() != 1 || token(created) != thread+":1" || created.header.Get("ETag") != `"1"` {
		t.Fatalf("created: %d %v %s", created.status, created.header, created.raw)
	}
	var adaIn, bobIn, hello, hi string

	steps := []struct {
		who  person
		path string
		body func() fields
		note func(answer)
		want func() threadView
	}{
		{ada, "/threads/rename", func() fields { return fields{"name": "coffee"} }, nil,
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 2, Members: []memberView{{adaIn, ada.id, "ADMIN"}}}
			}},
		{ada, "/threads/add_member", func() fields { return fields{"user_account_id": bob.id, "role": "Member"} }, func(a answer) { bobIn = a.text("member_id") },
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 3, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "MEMBER"}}}
			}},
		{bob, "/threads/post_message", func() fields { return fields{"text": "hello"} }, func(a answer) { hello = a.text("message_id") },
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 4, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "MEMBER"}},
					Messages: []messageView{{hello, bob.id, "hello"}}}
			}},
		{ada, "/threads/post_message", func() fields { return fields{"text": "hi\n\t🍵"} }, func(a answer) { hi = a.text("message_id") },
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 5, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "MEMBER"}},
					Messages: []messageView{{hello, bob.id, "hello"}, {hi, ada.id, "hi\n\t🍵"}}}
			}},
		{bob, "/threads/edit_message", func() fields { return fields{"message_id": hello, "text": "hello!"} }, nil,
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 6, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "MEMBER"}},
					Messages: []messageView{{hello, bob.id, "hello!"}, {hi, ada.id, "hi\n\t🍵"}}}
			}},
		{ada, "/threads/delete_message", func() fields { return fields{"message_id": fields{"value": hello}} }, nil,
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 7, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "MEMBER"}},
					Messages: []messageView{{hi, ada.id, "hi\n\t🍵"}}}
			}},
		{ada, "/threads/change_member_role", func() fields { return fields{"user_account_id": bob.id, "role": "Admin"} }, nil,
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 8, Members: []memberView{{adaIn, ada.id, "ADMIN"}, {bobIn, bob.id, "ADMIN"}},
					Messages: []messageView{{hi, ada.id, "hi\n\t🍵"}}}
			}},
		{bob, "/threads/remove_member", func() fields { return fields{"user_account_id": bob.id} }, nil,
			func() threadView {
				return threadView{Name: "coffee", OwnerID: ada.id, Version: 9, Members: []memberView{{adaIn, ada.id, "ADMIN"}},
					Messages: []messageView{{hi, ada.id, "hi\n\t🍵"}}}
			}},
	}

	first := ada.view(t, thread, token(created))
	adaIn = first.Members[0].ID
	if diff := cmp.Diff(threadView{Name: "tea", OwnerID: ada.id, Version: 1, Members: []memberView{{adaIn, ada.id, "ADMIN"}}}, first); diff != "" {
		t.Fatal("after create (-want +got):\n" + diff)
	}
	for _, step := range steps {
		body := step.body()
		body["thread_id"] = thread
		a := step.who.command(t, step.path, body)
		if step.note != nil {
			step.note(a)
		}
		if diff := cmp.Diff(step.want(), ada.view(t, thread, token(a))); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", step.path, diff)
		}
	}

	snapshot := ada.command(t, "/threads/snapshot", fields{"thread_id": thread})
	if version, _ := snapshot.body["snapshot_version"].(float64); version != 9 {
		t.Errorf("snapshot: %s", snapshot.raw)
	}
	if code := bob.refused(t, wholeThread, fields{"thread": thread, "viewer": bob.id}); code != "NOT_FOUND" {
		t.Errorf("a former member gets %s", code)
	}
	deleted := ada.command(t, "/threads/delete", fields{"thread_id": thread})
	if code := ada.refused(t, wholeThread, fields{"thread": thread, "viewer": ada.id}, token(deleted)); code != "NOT_FOUND" {
		t.Errorf("a deleted thread gets %s", code)
	}
	if a := ada.attempt(t, "/threads/post_message", fields{"thread_id": thread, "text": "?"}, nil); a.status != 409 || a.text("code") != "thread_deleted" {
		t.Errorf("posting to a deleted thread: %d %s", a.status, a.raw)
	}
}

// Every query of the schema, including nested lists and both directions of a connection.
func TestEveryQuery(t *testing.T) { eachSystem(t, testEveryQuery) }

func testEveryQuery(t *testing.T, s *system) {
	ada := s.person("")
	thread := ada.command(t, "/threads/create", fields{"name": "queries"}).text("thread_id")
	var messages []string
	var last answer
	for _, text := range []string{"1", "2", "3", "4", "5"} {
		last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": text})
		messages = append(messages, last.text("message_id"))
	}
	newer := ada.command(t, "/threads/create", fields{"name": "newer"})
	vars := fields{"thread": thread, "viewer": ada.id, "message": messages[2], "after": messages[1], "newer": newer.text("thread_id")}
	both := []string{token(last), token(newer)}

	for _, c := range []struct{ query, want string }{
		{`query($viewer: ID!) { getThreads(userAccountId: $viewer) { name } }`, `{"getThreads":[{"name":"newer"},{"name":"queries"}]}`},
		{`query($viewer: ID!, $newer: String) { getThreads(userAccountId: $viewer, after: $newer, first: 1) { name } }`, `{"getThreads":[{"name":"queries"}]}`},
		{`query($thread: ID!, $viewer: ID!) { getMember(threadId: $thread, userAccountId: $viewer) { role } }`, `{"getMember":{"role":"ADMIN"}}`},
		{`query($thread: ID!, $viewer: ID!) { getMembers(threadId: $thread, userAccountId: $viewer) { role } }`, `{"getMembers":[{"role":"ADMIN"}]}`},
		{`query($message: ID!, $viewer: ID!) { getMessage(messageId: $message, userAccountId: $viewer) { text } }`, `{"getMessage":{"text":"3"}}`},
		{`query($thread: ID!, $viewer: ID!, $after: String) { getMessages(threadId: $thread, userAccountId: $viewer, after: $after, first: 2) { text } }`,
			`{"getMessages":[{"text":"3"},{"text":"4"}]}`},
		{`query($viewer: ID!) { threads(userAccountId: $viewer, first: 1) { edges { node { name } } pageInfo { hasNextPage } } }`,
			`{"threads":{"edges":[{"node":{"name":"newer"}}],"pageInfo":{"hasNextPage":true}}}`},
		{`query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { messages(last: 2) { edges { node { text } } pageInfo { hasPreviousPage hasNextPage } } } }`,
			`{"getThread":{"messages":{"edges":[{"node":{"text":"4"}},{"node":{"text":"5"}}],"pageInfo":{"hasPreviousPage":true,"hasNextPage":false}}}}`},
	} {
		var got, want any
		ada.ask(t, &got, c.query, only(vars, c.query), both...)
		mustDecode(t, c.want, &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.query, diff)
		}
	}
}
