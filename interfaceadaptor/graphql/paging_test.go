package graphql_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

// connection is a page of any list.
type connection struct {
	Edges []struct {
		Cursor string
		Node   struct{ ID, Text, Name string }
	}
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
}

const wholePage = `{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`

func (c connection) ids() []string {
	found := make([]string, len(c.Edges))
	for i, edge := range c.Edges {
		found[i] = edge.Node.ID
	}
	return found
}

// TestMessagesBothWays pages through a thread's messages forwards and backwards, with pages of every size. The row of
// each cursor is deleted before the next page.
func TestMessagesBothWays(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		for size := 1; size <= 4; size++ {
			for _, backward := range []bool{false, true} {
				chat := w.Thread("chat", alice)
				var want []string
				for i := range 7 {
					want = append(want, w.Post(chat, alice, fmt.Sprint(i)).String())
				}
				var got []string
				border := ""
				for more := true; more; {
					arguments := fmt.Sprintf(`first: %d %s`, size, border)
					if backward {
						arguments = fmt.Sprintf(`last: %d %s`, size, border)
					}
					var data struct{ GetThread struct{ Messages connection } }
					a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getThread(`+graphqltest.IDs(chat, alice)+`) { messages(`+arguments+`) `+wholePage+` } }`).Into(t, &data)
					page := data.GetThread.Messages
					begun := border != ""
					if backward {
						got = append(page.ids(), got...)
						more = page.PageInfo.HasPreviousPage
						border = fmt.Sprintf(`before: "%s"`, *page.PageInfo.StartCursor)
					} else {
						got = append(got, page.ids()...)
						more = page.PageInfo.HasNextPage
						border = fmt.Sprintf(`after: "%s"`, *page.PageInfo.EndCursor)
					}
					if behind := map[bool]bool{true: page.PageInfo.HasNextPage, false: page.PageInfo.HasPreviousPage}[backward]; behind != begun {
						t.Errorf("size %d backward %v: there were rows on the side of the cursor: %v", size, backward, behind)
					}
					seen := page.Edges[len(page.Edges)-1].Node.ID
					if backward {
						seen = page.Edges[0].Node.ID
					}
					message, err := ident.Parse[thread.Message](seen)
					if err != nil {
						t.Fatal(err)
					}
					w.Unpost(chat, message)
				}
				if !slices.Equal(got, want) {
					t.Errorf("size %d backward %v: %v, want %v", size, backward, got, want)
				}
			}
		}
	})
}

// TestListsContinueBehindWhatHasGone pages through the get... lists, whose rows are deleted as soon as they have been
// read.
func TestListsContinueBehindWhatHasGone(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		users := map[string]thread.UserID{}
		var members, messages []string
		for i := range 5 {
			user := readmodeltest.NewUser()
			id := w.Add(chat, user).String()
			users[id], members = user, append(members, id)
			messages = append(messages, w.Post(chat, alice, fmt.Sprint(i)).String())
		}
		walk := func(field, arguments, after string, gone func(id string)) (found []string) {
			t.Helper()
			if after != "" {
				after = `, after: "` + after + `"`
			}
			for {
				var data struct{ List []struct{ ID string } }
				a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ list: `+field+`(`+arguments+`, first: 2`+after+`) { id } }`).Into(t, &data)
				if len(data.List) == 0 {
					return found
				}
				for _, row := range data.List {
					found = append(found, row.ID)
				}
				last := data.List[len(data.List)-1].ID
				gone(last)
				after = `, after: "` + last + `"`
			}
		}
		own, err := w.MemberID(chat, alice)
		if err != nil {
			t.Fatal(err)
		}
		if got := walk("getMembers", graphqltest.IDs(chat, alice), own.String(), func(id string) { w.Remove(chat, users[id]) }); !slices.Equal(got, members) {
			t.Errorf("members %v, want %v", got, members)
		}
		if got := walk("getMessages", graphqltest.IDs(chat, alice), "", func(id string) {
			message, err := ident.Parse[thread.Message](id)
			if err != nil {
				t.Fatal(err)
			}
			w.Unpost(chat, message)
		}); !slices.Equal(got, messages) {
			t.Errorf("messages %v, want %v", got, messages)
		}

		bob := readmodeltest.NewUser()
		var threads []string
		for i := range 5 {
			threads = append([]string{w.Thread(fmt.Sprint(i), bob).String()}, threads...)
		}
		if got := walk("getThreads", `userAccountId: "`+bob.String()+`"`, "", func(string) {}); !slices.Equal(got, threads) {
			t.Errorf("threads %v, want %v", got, threads)
		}
		// A deleted thread is at the front, because its last event put it there: all other threads come after it.
		for i, leave := range []func(thread.ID) uint64{w.Delete, func(id thread.ID) uint64 { return w.Remove(id, bob) }} {
			last, err := ident.Parse[thread.Thread](threads[len(threads)-1])
			if err != nil {
				t.Fatal(err)
			}
			leave(last)
			threads = threads[:len(threads)-1]
			if got := walk("getThreads", `userAccountId: "`+bob.String()+`"`, last.String(), func(string) {}); !slices.Equal(got, threads) {
				t.Errorf("%d: threads after a deleted one: %v, want %v", i, got, threads)
			}
		}
	})
}

func TestConnectionsOfThreadsAndMembers(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		var threads []string
		var chat thread.ID
		for i := range 5 {
			chat = w.Thread(fmt.Sprint(i), alice)
			threads = append([]string{chat.String()}, threads...)
		}
		var members []string
		for range 4 {
			members = append(members, w.Add(chat, readmodeltest.NewUser()).String())
		}
		walk := func(ask func(after string) connection, between func()) (found []string) {
			t.Helper()
			after := ""
			for {
				page := ask(after)
				if page.PageInfo.HasPreviousPage != (after != "") {
					t.Errorf("after %q there is a previous page: %v", after, page.PageInfo.HasPreviousPage)
				}
				found = append(found, page.ids()...)
				if !page.PageInfo.HasNextPage {
					return found
				}
				after = fmt.Sprintf(`, after: "%s"`, *page.PageInfo.EndCursor)
				between()
			}
		}
		got := walk(func(after string) connection {
			var data struct{ Threads connection }
			a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ threads(userAccountId: "`+alice.String()+`", first: 2`+after+`) `+wholePage+` }`).Into(t, &data)
			return data.Threads
		}, func() { w.Rename(chat, "at the front, where it has been seen") })
		if !slices.Equal(got, threads) {
			t.Errorf("threads %v, want %v", got, threads)
		}
		// From the end: each page is before the one that was read last.
		for size := 1; size <= len(threads)+1; size++ {
			var got []string
			for before, more := "", true; more; {
				var data struct{ Threads connection }
				a.Ask(t, graphqltest.Asked{Tenant: "acme"}, fmt.Sprintf(`{ threads(userAccountId: "%s", last: %d%s) %s }`, alice, size, before, wholePage)).Into(t, &data)
				got = append(data.Threads.ids(), got...)
				if data.Threads.PageInfo.HasNextPage != (before != "") {
					t.Errorf("before %q there is a next page: %v", before, data.Threads.PageInfo.HasNextPage)
				}
				more, before = data.Threads.PageInfo.HasPreviousPage, fmt.Sprintf(`, before: "%s"`, *data.Threads.PageInfo.StartCursor)
			}
			if !slices.Equal(got, threads) {
				t.Errorf("threads from the end by %d: %v, want %v", size, got, threads)
			}
		}
		got = walk(func(after string) connection {
			var data struct{ GetThread struct{ Members connection } }
			a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ getThread(`+graphqltest.IDs(chat, alice)+`) { members(first: 2`+after+`) `+wholePage+` } }`).Into(t, &data)
			return data.GetThread.Members
		}, func() {})
		if !slices.Equal(got[1:], members) {
			t.Errorf("members %v, want alice's and %v", got, members)
		}

		var empty struct{ Threads connection }
		a.Ask(t, graphqltest.Asked{Tenant: "acme"}, `{ threads(userAccountId: "`+readmodeltest.NewUser().String()+`") `+wholePage+` }`).Into(t, &empty)
		if info := empty.Threads.PageInfo; empty.Threads.Edges == nil || info.HasNextPage || info.HasPreviousPage || info.StartCursor != nil || info.EndCursor != nil {
			t.Errorf("an empty page: %+v", empty)
		}
	})
}

// TestALevelIsOneStatement counts the statements of nested lists.
func TestALevelIsOneStatement(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "acme")
		alice := readmodeltest.NewUser()
		user := alice.String()
		var chat thread.ID
		for i := range 60 {
			chat = w.Thread(fmt.Sprint(i), alice)
			w.Post(chat, alice, fmt.Sprint("in ", i))
		}
		const inside = `name members(first: 5) { edges { node { id } } } messages(last: 2) { edges { node { text } } }`
		for document, levels := range map[string]int64{
			`{ list: getThreads(userAccountId: "` + user + `", first: 60) { ` + inside + ` } }`:                                                                       3,
			`{ threads(userAccountId: "` + user + `", first: 60) { edges { node { ` + inside + ` } } } }`:                                                             3,
			`{ getThread(` + graphqltest.IDs(chat, alice) + `) { ` + inside + ` } }`:                                                                                  3,
			`{ threads(userAccountId: "` + user + `") { edges { node { a: messages(first: 1) { edges { cursor } } b: messages(first: 2) { edges { cursor } } } } } }`: 3,
			`{ getMembers(` + graphqltest.IDs(chat, alice) + `) { id } }`:                                                                                             2,
			`{ getMessages(` + graphqltest.IDs(chat, alice) + `) { id } }`:                                                                                            2,
		} {
			before := a.Statements()
			var data struct {
				List []struct {
					Name     string
					Messages connection
				}
			}
			a.Ask(t, graphqltest.Asked{Tenant: "acme"}, document).Into(t, &data)
			if spent := a.Statements() - before; spent != levels {
				t.Errorf("%d statements, want %d: %s", spent, levels, document)
			}
			for _, row := range data.List { // each thread has its own rows
				if len(row.Messages.Edges) != 1 || row.Messages.Edges[0].Node.Text != "in "+row.Name {
					t.Errorf("thread %q has %+v", row.Name, row.Messages)
				}
			}
		}
	})
}
