package queryreader_test

import (
	"errors"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

func TestRowsAreReadAsTheyAre(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, reader := db.World(t, "acme"), readmodeltest.NewReader(t, db.DB)
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		id := w.Thread("Mittag 🍜", alice)
		created, creator := w.Now(), w.By()
		memberID := w.Add(id, bob)
		joined, adder := w.Now(), w.By()
		messageID := w.Post(id, bob, "line one\nline two 😀")
		posted, poster := w.Now(), w.By()

		viewer := query.Viewer{Tenant: w.Tenant, User: alice}
		gotThread, err := reader.Thread(t.Context(), viewer, id)
		want := query.Thread{
			Tenant: w.Tenant, ID: id, Name: "Mittag 🍜", Owner: alice, Version: 3, CreatedAt: created, UpdatedAt: posted,
			Audit: query.Audit{CreatedBy: creator, UpdatedBy: poster},
		}
		if err != nil || gotThread != want {
			t.Errorf("thread %+v, %v; want %+v", gotThread, err, want)
		}
		gotMember, err := reader.Member(t.Context(), w.Tenant, id, bob)
		wantMember := query.Member{
			Tenant: w.Tenant, ID: memberID, Thread: id, User: bob, Role: thread.RoleMember, JoinedSeq: 2, CreatedAt: joined, UpdatedAt: joined,
			Audit: query.Audit{CreatedBy: adder, UpdatedBy: adder},
		}
		if err != nil || gotMember != wantMember {
			t.Errorf("member %+v, %v; want %+v", gotMember, err, wantMember)
		}
		gotMessage, err := reader.Message(t.Context(), viewer, messageID)
		wantMessage := query.Message{
			Tenant: w.Tenant, ID: messageID, Thread: id, Sender: bob, Text: "line one\nline two 😀", SeqNr: 3, CreatedAt: posted, UpdatedAt: posted,
			Audit: query.Audit{CreatedBy: poster, UpdatedBy: poster},
		}
		if err != nil || gotMessage != wantMessage {
			t.Errorf("message %+v, %v; want %+v", gotMessage, err, wantMessage)
		}
		if gotMessage.CreatedAt.Location() != time.UTC || gotMessage.CreatedAt.Nanosecond()%1000 != 0 {
			t.Errorf("posted at %v", gotMessage.CreatedAt)
		}
	})
}

// TestWhatAViewerDoesNotSee tries every way to read a row, for every reason why it does not exist for the viewer.
func TestWhatAViewerDoesNotSee(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		w, elsewhere := db.World(t, "acme"), db.World(t, "globex")
		noTenant := db.World(t, "")
		reader := readmodeltest.NewReader(t, db.DB)
		alice, bob, carol := readmodeltest.NewUser(), readmodeltest.NewUser(), readmodeltest.NewUser()

		tea := w.Thread("tea", alice)
		w.Add(tea, bob)
		message := w.Post(tea, alice, "hello")
		unposted := w.Post(tea, alice, "oops")
		w.Unpost(tea, unposted)
		w.Remove(tea, bob)

		gone := w.Thread("gone", alice)
		goneMessage := w.Post(gone, alice, "bye")
		w.Delete(gone)

		// Another tenant has a thread with the same id, with the same user account as a member.
		same := elsewhere.Thread("theirs", alice)
		w.ThreadWithID(same, "ours", carol)
		said := map[es.Tenant]thread.MessageID{elsewhere.Tenant: elsewhere.Post(same, alice, "theirs"), w.Tenant: w.Post(same, carol, "ours")}

		viewer := func(w *readmodeltest.World, user thread.UserID) query.Viewer {
			return query.Viewer{Tenant: w.Tenant, User: user}
		}
		for name, test := range map[string]struct {
			viewer  query.Viewer
			thread  thread.ID
			message thread.MessageID
		}{
			"never a member":                     {viewer(w, carol), tea, message},
			"a former member":                    {viewer(w, bob), tea, message},
			"another tenant":                     {viewer(elsewhere, alice), tea, message},
			"no tenant":                          {viewer(noTenant, alice), tea, message},
			"a deleted thread":                   {viewer(w, alice), gone, goneMessage},
			"a deleted message":                  {viewer(w, alice), kit.NewID[thread.Thread](), unposted},
			"nothing there":                      {viewer(w, alice), kit.NewID[thread.Thread](), kit.NewID[thread.Message]()},
			"the same account in another tenant": {viewer(w, alice), same, kit.NewID[thread.Message]()},
		} {
			if got, err := reader.Thread(t.Context(), test.viewer, test.thread); !errors.Is(err, thread.ErrThreadNotFound) {
				t.Errorf("%s: thread %+v, %v", name, got, err)
			}
			if got, err := reader.Message(t.Context(), test.viewer, test.message); !errors.Is(err, thread.ErrMessageNotFound) {
				t.Errorf("%s: message %+v, %v", name, got, err)
			}
			if got, err := reader.Member(t.Context(), test.viewer.Tenant, test.thread, test.viewer.User); !errors.Is(err, thread.ErrMemberNotFound) {
				t.Errorf("%s: member %+v, %v", name, got, err)
			}
		}
		if got, err := reader.Thread(t.Context(), viewer(elsewhere, alice), same); err != nil || got.Name != "theirs" {
			t.Errorf("the thread of the other tenant: %+v, %v", got, err)
		}
		for _, other := range []query.Viewer{viewer(elsewhere, alice), viewer(noTenant, alice), viewer(w, carol)} {
			if err := reader.WasMember(t.Context(), other, tea); !errors.Is(err, thread.ErrThreadNotFound) {
				t.Errorf("a thread that %v was never in: %v", other, err)
			}
			if _, err := reader.Threads(t.Context(), other, query.Range{AfterID: tea.String(), Limit: 1}); es.KindOf(err) != es.Invalid {
				t.Errorf("after a thread that %v was never in: %v", other, err)
			}
		}
		for tenant, message := range said {
			messages, err := reader.Messages(t.Context(), tenant, []thread.ID{same}, query.Range{Limit: 10})
			if got := messages[same].Items; err != nil || len(got) != 1 || got[0].ID != message {
				t.Errorf("the messages of %v's thread: %+v, %v", tenant, got, err)
			}
			members, err := reader.Members(t.Context(), tenant, []thread.ID{same}, query.Range{Limit: 10})
			if got := members[same].Items; err != nil || len(got) != 1 {
				t.Errorf("the members of %v's thread: %+v, %v", tenant, got, err)
			}
		}
		owner, err := reader.Member(t.Context(), w.Tenant, tea, alice)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []es.AggregateID{elsewhere.Key(tea), w.Key(same)} {
			page, other := query.Range{AfterID: owner.ID.String(), Limit: 1}, []thread.ID{chat.ThreadID(key)}
			if _, err := reader.Members(t.Context(), key.Tenant, other, page); es.KindOf(err) != es.Invalid {
				t.Errorf("after another thread's member: %v", err)
			}
			page.AfterID = message.String()
			if _, err := reader.Messages(t.Context(), key.Tenant, other, page); es.KindOf(err) != es.Invalid {
				t.Errorf("after another thread's message: %v", err)
			}
		}
	})
}

func TestVersions(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		reader := readmodeltest.NewReader(t, db.Counted)
		alice := readmodeltest.NewUser()
		acme, globex, noTenant := db.World(t, "acme"), db.World(t, "globex"), db.World(t, "")
		one := acme.Thread("one", alice)
		two := globex.Thread("two", alice)
		three := noTenant.Thread("three", alice)
		acme.Rename(one, "uno")
		globex.Delete(two)

		keys := []es.AggregateID{acme.Key(one), globex.Key(two), noTenant.Key(three), acme.Key(two), globex.Key(three), noTenant.Key(one)}
		for range 300 {
			keys = append(keys, acme.Key(kit.NewID[thread.Thread]()))
		}
		before := db.Statements()
		versions, err := reader.Versions(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		if len(versions) != 3 || versions[acme.Key(one)] != 2 || versions[globex.Key(two)] != 2 || versions[noTenant.Key(three)] != 1 {
			t.Errorf("got %v", versions)
		}
		if spent := db.Statements() - before; spent != 1 {
			t.Errorf("%d statements", spent)
		}
	})
}
