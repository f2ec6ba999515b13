package queryreader_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// TestEveryRangeOfMessages compares every possible page with the expected one, in a list with deleted rows at the ends
// and in between. Positions may point to deleted rows.
func TestEveryRangeOfMessages(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, reader := db.World(t, "acme"), readmodeltest.NewReader(t, db.DB)
		alice := readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		const posted = 8
		deleted := []int{0, 3, 4, 7}
		positions := []query.Position{{}}
		for i := range posted {
			id := w.Post(chat, alice, fmt.Sprint(i))
			row, err := reader.Message(t.Context(), query.Viewer{Tenant: w.Tenant, User: alice}, id)
			if err != nil {
				t.Fatal(err)
			}
			positions = append(positions, row.Position())
			if slices.Contains(deleted, i) {
				w.Unpost(chat, id)
			}
		}
		live := func(from, to int) (texts []string) { // of the messages from <= i < to
			for i := max(from, 0); i < min(to, posted); i++ {
				if !slices.Contains(deleted, i) {
					texts = append(texts, fmt.Sprint(i))
				}
			}
			return texts
		}
		for after := range positions {
			for before := range positions {
				for limit := 1; limit <= 5; limit++ {
					for _, backward := range []bool{false, true} {
						from, to := after, before-1 // positions[i] is the position of message i-1
						if before == 0 {
							to = posted
						}
						want := live(from, to)
						previous, next := after > 0, before > 0
						if surplus := len(want) - limit; surplus > 0 && backward {
							want, previous = want[surplus:], true
						} else if surplus > 0 {
							want, next = want[:limit], true
						}
						asked := query.Range{After: positions[after], Before: positions[before], Limit: limit, Backward: backward}
						pages, err := reader.Messages(t.Context(), w.Tenant, []thread.ID{chat}, asked)
						if err != nil {
							t.Fatal(err)
						}
						got := pages[chat]
						texts := make([]string, 0)
						for _, message := range got.Items {
							texts = append(texts, message.Text)
						}
						if !slices.Equal(texts, want) || got.HasPrevious != previous || got.HasNext != next {
							t.Errorf("after %d before %d limit %d backward %v: %v previous %v next %v; want %v %v %v",
								after-1, before-1, limit, backward, texts, got.HasPrevious, got.HasNext, want, previous, next)
						}
					}
				}
			}
		}
	})
}

func TestMembersComeInOrderOfJoining(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, reader := db.World(t, "acme"), readmodeltest.NewReader(t, db.DB)
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		chat := w.Thread("chat", alice)
		w.Add(chat, bob)
		others := make([]thread.UserID, 5)
		for i := range others {
			others[i] = readmodeltest.NewUser()
			w.Add(chat, others[i])
		}
		w.Remove(chat, bob)
		w.Add(chat, bob) // rejoins, so it is the last
		want := append(append([]thread.UserID{alice}, others...), bob)

		var got []thread.UserID
		var after query.Position
		for {
			pages, err := reader.Members(t.Context(), w.Tenant, []thread.ID{chat}, query.Range{After: after, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			page := pages[chat]
			for _, member := range page.Items {
				got = append(got, member.User)
			}
			if page.HasPrevious != !after.IsZero() {
				t.Errorf("after %v there is a previous page: %v", after, page.HasPrevious)
			}
			if !page.HasNext {
				break
			}
			last := page.Items[len(page.Items)-1]
			after = last.Position()
			if last.User == others[2] {
				w.Remove(chat, others[2]) // the last row of the previous page
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestThreadsComeLastChangedFirst(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, reader := db.World(t, "acme"), readmodeltest.NewReader(t, db.DB)
		elsewhere := db.World(t, "globex")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		threads := make([]thread.ID, 7)
		for i := range threads {
			threads[i] = w.Thread(fmt.Sprint(i), alice)
		}
		elsewhere.Thread("of another tenant", alice)
		w.Thread("of another account", bob)
		left := w.Thread("left", bob)
		w.Add(left, alice)
		w.Remove(left, alice)
		w.Delete(threads[1])
		w.Post(threads[2], alice, "to the front")
		// Two threads changed in the same microsecond: the id decides.
		if _, err := db.DB.ExecContext(t.Context(), `UPDATE threads SET updated_at = 7 WHERE id IN (?, ?)`, threads[5].String(), threads[6].String()); err != nil {
			t.Fatal(err)
		}
		tied := []thread.ID{threads[5], threads[6]}
		slices.SortFunc(tied, func(a, b thread.ID) int { return b.Compare(a) })
		want := []thread.ID{threads[2], threads[4], threads[3], threads[0], tied[0], tied[1]}

		viewer := query.Viewer{Tenant: w.Tenant, User: alice}
		for size := 1; size <= len(want)+1; size++ {
			var got []thread.ID
			asked := query.Range{Limit: size}
			for {
				page, err := reader.Threads(t.Context(), viewer, asked)
				if err != nil {
					t.Fatal(err)
				}
				if page.HasPrevious != !asked.After.IsZero() {
					t.Errorf("after %v there is a previous page: %v", asked.After, page.HasPrevious)
				}
				for _, found := range page.Items {
					got = append(got, found.ID)
				}
				if !page.HasNext {
					break
				}
				asked.After = page.Items[len(page.Items)-1].Position()
			}
			if !slices.Equal(got, want) {
				t.Errorf("with pages of %d: %v, want %v", size, got, want)
			}
		}
		everyRangeOfThreads(t, reader, viewer, want)
		// The position of a deleted thread stays usable.
		page, err := reader.Threads(t.Context(), viewer, query.Range{AfterID: threads[1].String(), Limit: 10})
		if err != nil || len(page.Items) != 5 || page.Items[0].ID != threads[4] {
			t.Errorf("after the deleted thread: %+v, %v", page, err)
		}
		if _, err := reader.Threads(t.Context(), viewer, query.Range{AfterID: left.String(), Limit: 10}); err != nil {
			t.Errorf("after a thread that the viewer has left: %v", err)
		}
		if err := reader.WasMember(t.Context(), viewer, left); err != nil {
			t.Errorf("a thread that the viewer has left: %v", err)
		}
	})
}

// everyRangeOfThreads compares every page between two threads of the viewer's list with the expected one.
func everyRangeOfThreads(t *testing.T, reader *queryreader.Reader, viewer query.Viewer, list []thread.ID) {
	t.Helper()
	all, err := reader.Threads(t.Context(), viewer, query.Range{Limit: query.MaxPage})
	if err != nil || len(all.Items) != len(list) {
		t.Fatalf("%+v, %v", all, err)
	}
	for after := -1; after < len(list); after++ {
		for before := 0; before <= len(list); before++ {
			for limit := 1; limit <= len(list); limit++ {
				for _, backward := range []bool{false, true} {
					asked := query.Range{Limit: limit, Backward: backward}
					if after >= 0 {
						asked.After = all.Items[after].Position()
					}
					if before < len(list) {
						asked.Before = all.Items[before].Position()
					}
					from, to := after+1, max(before, after+1)
					previous, next := from > 0, before < len(list)
					if to-from > limit && backward {
						from, previous = to-limit, true
					} else if to-from > limit {
						to, next = from+limit, true
					}
					page, err := reader.Threads(t.Context(), viewer, asked)
					if err != nil {
						t.Fatal(err)
					}
					got := make([]thread.ID, 0)
					for _, found := range page.Items {
						got = append(got, found.ID)
					}
					if !slices.Equal(got, list[from:to]) || page.HasPrevious != previous || page.HasNext != next {
						t.Errorf("after %d before %d limit %d backward %v: %v previous %v next %v; want %v %v %v",
							after, before, limit, backward, got, page.HasPrevious, page.HasNext, list[from:to], previous, next)
					}
				}
			}
		}
	}
}

// TestListsOfManyThreadsAreFewStatements requests the lists of as many threads as allowed.
func TestListsOfManyThreadsAreFewStatements(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, reader := db.World(t, "acme"), readmodeltest.NewReader(t, db.Counted)
		alice := readmodeltest.NewUser()
		busy, quiet := w.Thread("busy", alice), w.Thread("quiet", alice)
		for i := range 5 {
			w.Post(busy, alice, fmt.Sprint(i))
		}
		foreign := db.World(t, "globex").Thread("theirs", alice)
		threads := []thread.ID{busy, quiet, foreign}
		for len(threads) < query.MaxPage {
			threads = append(threads, kit.NewID[thread.Thread]())
		}

		before := db.Statements()
		messages, err := reader.Messages(t.Context(), w.Tenant, threads, query.Range{Limit: 3, Backward: true})
		if err != nil {
			t.Fatal(err)
		}
		members, err := reader.Members(t.Context(), w.Tenant, threads, query.Range{Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if none, err := reader.Members(t.Context(), w.Tenant, nil, query.Range{Limit: 3}); err != nil || len(none) != 0 {
			t.Errorf("of no thread: %+v, %v", none, err)
		}
		if spent := db.Statements() - before; spent != 2*query.MaxPage/100 {
			t.Errorf("%d statements for two lists of %d threads, want one for 100", spent, query.MaxPage)
		}
		if got := messages[busy]; len(got.Items) != 3 || got.Items[0].Text != "2" || !got.HasPrevious || got.HasNext {
			t.Errorf("busy: %+v", got)
		}
		if got := messages[quiet]; len(got.Items) != 0 || got.HasPrevious || got.HasNext {
			t.Errorf("quiet: %+v", got)
		}
		if len(members[busy].Items) != 1 || len(members[quiet].Items) != 1 || len(members[foreign].Items) != 0 {
			t.Errorf("members: %+v %+v %+v", members[busy], members[quiet], members[foreign])
		}
		cut, err := reader.Messages(t.Context(), w.Tenant, threads, query.Range{After: messages[busy].Items[0].Position(), Limit: 3})
		if err != nil || len(cut[busy].Items) != 2 || !cut[busy].HasPrevious {
			t.Errorf("after a position: %+v, %v", cut[busy], err)
		}
	})
}
